// What the judges print: a conversation as lines of text, one for each thing that was
// said, so that two of them are the same exactly if their lines are.
//
//	user: Hello                 and assistant, system, summary
//	user image/png aGVsbG8=     the data as it stands in the file
//	assistant thinks: Well
//	call 1 read {"path":"a"}    the first call of the conversation
//	result 1: text              and "failed 1: text"; "result ?" has no call
export class Said {
  lines = [];
  #calls = new Map();

  text(role, text) {
    if (text) this.lines.push(`${role}: ${text}`);
  }
  image(role, type, data) {
    this.lines.push(`${role} ${type} ${data}`);
  }
  call(id, name, input) {
    this.#calls.set(id, this.#calls.size + 1);
    this.lines.push(`call ${this.#calls.get(id)} ${name} ${JSON.stringify(input)}`);
  }
  result(id, text, failed) {
    this.lines.push(`${failed ? "failed" : "result"} ${this.#calls.get(id) ?? "?"}: ${text}`);
  }
}
