package recognize_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bough-dev/bough/explore/recognize"
)

// replies are texts of assistants with the names of the strategies that they offer, none if
// they offer no choice.
var replies = []struct {
	name, reply string
	want        []string
}{
	{"seed", "I see three approaches: functional, imperative, and hybrid...", []string{"functional", "imperative", "hybrid"}},
	{"headings", "# Making it fast\n\nThere are a few ways.\n\n## Option A: Cache the results\n\nKeep them in memory.\n\n## Option B: Index the table\n\nAdd an index.\n\n```sql\nCREATE INDEX i ON t (c);\n```\n\n## Recommendation\n\nStart with B.\n",
		[]string{"Cache the results", "Index the table"}},
	{"headings numbered", "## Approach 1 - Rewrite\n\nAll of it.\n\n## Approach 2 - Patch\n\nOne line.\n\n## Approach 3 - Leave it\n\nNothing.", []string{"Rewrite", "Patch", "Leave it"}},
	{"headings below one", "## Possible approaches\n\n### Event sourcing\n\nStore events.\n\n### Snapshots\n\nStore states.\n\n## Next\n\nTell me which.", []string{"Event sourcing", "Snapshots"}},
	{"bold list", "You have several options here:\n\n1. **Mutex**: simple, but slow under load.\n2. **Channel**: idiomatic, more code.\n3. **Atomic**: fast, and hard to get right.\n\nWhich would you prefer?", []string{"Mutex", "Channel", "Atomic"}},
	{"loose list", "We could solve this in two ways:\n\n1. **Polling**\n\n   Ask every second.\n\n   - simple\n   - wasteful\n\n2. **Webhooks**\n\n   Be told.\n\n   - quick\n", []string{"Polling", "Webhooks"}},
	{"unindented list", "Here are two options:\n\n1. **Polling**\n\nAsk every second.\n\n2. **Webhooks**\n\nBe told.\n", []string{"Polling", "Webhooks"}},
	{"plain list", "Possible solutions:\n- Increase the timeout\n- Retry with backoff\n- Move the work to a queue\n", []string{"Increase the timeout", "Retry with backoff", "Move the work to a queue"}},
	{"dashes", "There are a couple of strategies for this:\n\n* Divide and conquer — split the input and merge.\n* Dynamic programming — fill a table.\n", []string{"Divide and conquer", "Dynamic programming"}},
	{"labels in list", "- **Option A:** use SQLite, one file.\n- **Option B:** use Postgres, a server.\n", []string{"use SQLite, one file", "use Postgres, a server"}},
	{"labels in text", "Option 1: keep the monolith. It is simple.\n\nOption 2: split out the billing service.", []string{"keep the monolith", "split out the billing service"}},
	{"labels in one text", "Option 1 is to keep the monolith. Option 2 is to split out the billing service.", []string{"keep the monolith", "split out the billing service"}},
	{"bold paragraphs", "I can think of two approaches.\n\n**Recursive descent.** Write the parser by hand.\n\n**Parser generator.** Write a grammar.\n\nI'd go with the first.", []string{"Recursive descent", "Parser generator"}},
	{"bold labels", "**Approach 1: Lazy loading**\n\n- small\n- slow first click\n\n**Approach 2: Prefetching**\n\n- big\n- quick\n", []string{"Lazy loading", "Prefetching"}},
	{"either", "We could either rewrite the loop as a map or unroll it by hand.", []string{"rewrite the loop as a map", "unroll it by hand"}},
	{"one and another", "One option is to pin the version. Another option is to vendor the module. Alternatively, we could fork it.", []string{"pin the version", "vendor the module", "fork it"}},
	{"question", "Should we use Postgres or SQLite?", []string{"use Postgres", "SQLite"}},
	{"numbered in a sentence", "There are three ways to go about it: (1) parse by hand, (2) use a library, or (3) shell out to jq.", []string{"parse by hand", "use a library", "shell out to jq"}},
	{"near doubles", "Some alternatives:\n\n- Use a worker pool\n- Use a semaphore\n- Use worker pools\n", []string{"Use a worker pool", "Use a semaphore"}},
	{"parentheses", "Options:\n1) Depth-first search\n2) Breadth-first search\n", []string{"Depth-first search", "Breadth-first search"}},
	{"bullets of people", "My ideas for the cache:\n• LRU\n• LFU\n• ARC\n\nWhich one do you like?", []string{"LRU", "LFU", "ARC"}},
	{"plans", "### Plan A\n\nMigrate at night.\n\n### Plan B\n\nMigrate table by table.\n", []string{"Plan A", "Plan B"}},
	{"windows lines", "Two approaches:\r\n\r\n- Optimistic locking\r\n- Pessimistic locking\r\n", []string{"Optimistic locking", "Pessimistic locking"}},
	{"question after", "- Keep it in one file\n- Split it into packages\n\nWhich approach do you prefer?", []string{"Keep it in one file", "Split it into packages"}},
	{"recommended label", "#### Option 1: Streaming (recommended)\nLow memory.\n\n#### Option 2: Batching\nSimple.\n", []string{"Streaming (recommended)", "Batching"}},
	{"en dashes", "Good question! There are a few different ways you could tackle this.\n\n1. **Use a context with a deadline** – pass it through every call.\n2. **Use a select with time.After** – quick, leaks a timer.\n3. **Use a watchdog goroutine** – heavy.\n\nMy recommendation is the first.",
		[]string{"Use a context with a deadline", "Use a select with time.After", "Use a watchdog goroutine"}},
	{"numbers in headings", "You can go about this in multiple ways:\n\n### 1. In-memory cache\nFast.\n\n### 2. Redis\nShared.\n\n### 3. CDN\nFar.\n", []string{"In-memory cache", "Redis", "CDN"}},
	{"if you care", "It depends. If you care about latency, use gRPC. If you care about simplicity, use REST.", []string{"use gRPC", "use REST"}}, // is missed
	{"designs", "Two designs come to mind: a ring buffer with a mutex, or a lock-free queue.", []string{"a ring buffer with a mutex", "a lock-free queue"}},
	{"consider", "I'd consider:\n\n- Sharding by tenant\n- Sharding by hash\n- Not sharding at all\n\nLet me know which direction you'd like.", []string{"Sharding by tenant", "Sharding by hash", "Not sharding at all"}},
	{"labels with a note", "**Option A (minimal):** patch the handler only.\n\n**Option B (thorough):** rewrite the middleware.\n", []string{"patch the handler only", "rewrite the middleware"}},
	{"question at the end", "The fix can be done client-side or server-side. Do you want me to do it on the client or on the server?", []string{"do it on the client", "on the server"}},
	{"labels in lines", "Approach A: Use recursion with memoization.\nApproach B: Use an iterative bottom-up table.\nApproach C: Use matrix exponentiation.\n", []string{"Use recursion with memoization", "Use an iterative bottom-up table", "Use matrix exponentiation"}},
	{"table", "| Option | Pro |\n|---|---|\n| SQLite | simple |\n| Postgres | robust |\n", []string{"SQLite", "Postgres"}}, // is missed
	{"italics", "Here's how I see the alternatives:\n\n- *Monorepo*: one place\n- *Polyrepo*: many places\n", []string{"Monorepo", "Polyrepo"}},

	{"done and run", "Done. I ran the tests and everything passes:\n\n- `go test ./...`: ok\n- `go vet`: ok\n", nil},
	{"how it works", "Here is how it works:\n\n1. The client sends a request.\n2. The server validates it.\n3. The database stores it.\n", nil},
	{"report", "## Root cause\n\nThe mutex is never released.\n\n## Fix\n\nUse defer.\n\n## Testing\n\nRun it twice.\n", nil},
	{"pancakes", "To make pancakes you need flour, eggs, and milk.", nil},
	{"supports", "The API supports three authentication methods: basic, bearer, and OAuth.", nil},
	{"bold pros", "**Pros:**\n- simple\n\n**Cons:**\n- slow\n\nOverall this approach is fine.", nil},
	{"considered", "I considered several approaches and implemented the second one. The code is now in main.go.", nil},
	{"takeaways", "Key takeaways:\n\n- **Latency** matters.\n- **Throughput** matters less.\n", nil},
	{"could have", "You could have a race here. You could also run with -race to see it.", nil},
	{"modified", "The following files were modified:\n\n- a.go\n- b.go\n", nil},
	{"steps", "To install it, follow these steps:\n\n1. Download the archive.\n2. Unpack it.\n3. Run the installer.\n", nil},
	{"steps by heading", "## Step 1: Clone\n\nClone it.\n\n## Step 2: Build\n\nBuild it.\n", nil},
	{"ingredients", "Ingredients:\n\n- 200 g flour\n- 2 eggs\n- 1 pinch of salt\n", nil},
	{"to-do", "- [ ] write the tests\n- [x] fix the bug\n- [ ] tag a release\n", nil},
	{"changes", "I have made these changes:\n\n- **parser.go**: fixed the loop\n- **lexer.go**: removed the buffer\n", nil},
	{"pros and cons", "**Pros**\n\n- fast\n- small\n\n**Cons**\n\n- odd\n", nil},
	{"prose", "The function returns nil because the map is empty. Add an entry and it works.", nil},
	{"flags", "The command takes these options:\n\n- `-v`: print more\n- `-q`: print less\n- `-o FILE`: write there\n", nil},
	{"reasons", "There are three reasons for the failure:\n\n1. The port is taken.\n2. The key is old.\n3. The disk is full.\n", nil},
	{"one way", "There is one approach: rewrite it.", nil},
	{"done", "Summary:\n- Added a retry\n- Updated the docs\n- Removed dead code\n", nil},
	{"first then", "1. First, stop the server\n2. Then copy the data\n3. Finally, start it again\n", nil},
	{"document", "# Guide\n\n## Installation\n\nRun make.\n\n## Usage\n\nRun it.\n\n## License\n\nMIT\n", nil},
	{"plain facts", "The planets nearest to the sun:\n\n- Mercury\n- Venus\n- Earth\n", nil},
	{"code", "```go\nfor _, option := range options {\n\t// Option A: x\n\t// Option B: y\n}\n```\n", nil},
	{"ruled out", "I tried these approaches and ruled out all of them:\n\n- caching\n- indexing\n", nil},
	{"features", "It has many features:\n\n- **Fast**: written in Go\n- **Small**: one file\n", nil},
	{"my approach", "My approach: read the file, count the words, and print the result.", nil},
	{"said of an option", "Option 1 looks good to me. I would go on with it.", nil},
	{"failures", "The ways it can fail: the disk is full, the network is down, or the key is wrong.", nil},
	{"errors", "The tests show these errors:\n\n1. `undefined: x`\n2. `missing return`\n", nil},
	{"questions", "I have two questions:\n\n1. What is the input?\n2. Who calls it?\n", nil},
	{"nothing", "", nil},
}

// TestRecognize measures recall and precision for replies that offer a choice, at the
// confidence from which a reply is explored, and whether the names are correct.
func TestRecognize(t *testing.T) {
	var found, right, wrong, missed, named int
	for _, c := range replies {
		got, overall := recognize.Reply(c.reply)
		var names []string
		for _, r := range got {
			names = append(names, r.Name)
		}
		switch offers := overall >= least; {
		case offers && c.want == nil:
			wrong++
			t.Logf("%s: offers no strategies, but has %q with %.2f", c.name, names, overall)
		case !offers && c.want != nil:
			missed++
			t.Logf("%s: is missed: %q with %.2f", c.name, names, overall)
		case offers:
			found++
			if slices.Equal(names, c.want) {
				named++
			} else {
				t.Logf("%s: the names are %q, want %q", c.name, names, c.want)
			}
		default:
			right++
		}
	}
	precision := float64(found) / float64(found+wrong)
	recall := float64(found) / float64(found+missed)
	exact := float64(named) / float64(found)
	t.Logf("%d replies: precision %.2f, recall %.2f; of those found %.2f with exactly the names", len(replies), precision, recall, exact)
	if precision < 0.95 || recall < 0.9 || exact < 0.95 {
		t.Error("the minima are 0.95, 0.90 and 0.95")
	}
}

func TestRecognizeDescription(t *testing.T) {
	got, _ := recognize.Reply(replies[4].reply)
	if len(got) != 3 || got[0].Description != "simple, but slow under load." || got[0].Rule != "list" {
		t.Errorf("got %+v", got)
	}
	got, _ = recognize.Reply(replies[1].reply)
	if len(got) != 2 || got[1].Description != "Add an index." || got[1].Rule != "headings" {
		t.Errorf("got %+v", got)
	}
}

// FuzzRecognize: names are not empty, short, valid and distinct; confidences are from 0 to
// 1; fewer than two names are not a choice; the result is deterministic.
func FuzzRecognize(f *testing.F) {
	for _, c := range replies {
		f.Add(c.reply)
	}
	f.Add("**Option A:**\n\n**Option A:**\n* * *\n1) \n2) x\n> - a\n> - b")
	f.Fuzz(func(t *testing.T, reply string) {
		if len(reply) > 4096 {
			return
		}
		got, overall := recognize.Reply(reply)
		if !(overall >= 0 && overall <= 1) || len(got) < 2 && overall > 0.3 {
			t.Fatalf("%d names with %v", len(got), overall)
		}
		seen := map[string]bool{}
		for _, r := range got {
			name := strings.ToLower(r.Name)
			if strings.TrimSpace(name) == "" || seen[name] || !utf8.ValidString(r.Name+r.Description) || strings.Contains(r.Name, "\n") {
				t.Fatalf("the name %q, after %v", r.Name, seen)
			}
			seen[name] = true
			if !(r.Confidence >= 0 && r.Confidence <= 1) {
				t.Fatalf("%q has the confidence %v", r.Name, r.Confidence)
			}
		}
		again, _ := recognize.Reply(reply)
		if !slices.Equal(got, again) {
			t.Fatalf("got %v, then %v", got, again)
		}
	})
}
