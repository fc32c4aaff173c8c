// @ts-check
// The fragment of the address is a code, which is not sent to a server with the address. This
// puts it into the form, removes it from the address, and sends the form.

const form = /** @type {HTMLFormElement | null} */ (document.getElementById("login"));
const code = /** @type {HTMLInputElement | null} */ (document.getElementById("code"));
const given = location.hash.slice(1);
if (form && code && /^[a-z2-7]{32}$/.test(given)) {
  history.replaceState(null, "", location.pathname + location.search);
  code.value = given;
  form.requestSubmit();
}
