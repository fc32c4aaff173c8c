// @ts-check
// Colors for code: comments, strings, numbers and keywords, and the lines of differences.
// Ranges are painted by the browser; the document does not change.

/** @typedef {'comment' | 'string' | 'number' | 'keyword' | 'added' | 'removed' | 'place'} Kind */

/** @typedef {{comment: string, string: string, keywords: string}} Language */

/** Larger code is not painted. */
const largest = 100_000;

const line = '//[^\\n]*|/\\*[^]*?(?:\\*/|$)';
const hash = '#[^\\n]*';
const quoted = '"(?:[^"\\\\\\n]|\\\\[^])*"?|\'(?:[^\'\\\\\\n]|\\\\[^])*\'?';
const ticked = `${quoted}|\`(?:[^\`\\\\]|\\\\[^])*\`?`;

/** @type {Record<string, Language>} */
const languages = {
  go: { comment: line, string: `"(?:[^"\\\\\\n]|\\\\[^])*"?|'(?:[^'\\\\\\n]|\\\\[^])*'?|\`[^\`]*\`?`, keywords: 'break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var true false nil iota' },
  javascript: { comment: line, string: ticked, keywords: 'as async await break case catch class const continue debugger default delete do else enum export extends false finally for from function get if implements import in instanceof interface let new null of package private protected public return set static super switch this throw true try type typeof undefined var void while with yield' },
  python: { comment: hash, string: `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${quoted}`, keywords: 'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield self' },
  rust: { comment: line, string: '"(?:[^"\\\\]|\\\\[^])*"?|\'(?:[^\'\\\\\\n]|\\\\[^\'\\n]+)\'', keywords: 'as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while' },
  c: { comment: line, string: quoted, keywords: 'alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false float for friend goto if inline int long namespace new nullptr operator private protected public return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while NULL include define ifdef ifndef endif' },
  java: { comment: line, string: `"""[^]*?(?:"""|$)|${quoted}`, keywords: 'abstract as boolean break byte case catch char class const continue data default do double else enum extends false final finally float for fun if implements import in instanceof int interface internal is long new null object open override package private protected public record return sealed short static super switch synchronized this throw throws transient true try val var void volatile when while namespace using string' },
  ruby: { comment: hash, string: quoted, keywords: 'alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield' },
  php: { comment: `${line}|${hash}`, string: quoted, keywords: 'abstract and array as break case catch class const continue default do echo else elseif extends false final finally fn for foreach function global if implements include interface match namespace new null or private protected public readonly require return static switch this throw trait true try use var while yield' },
  shell: { comment: '(?<![^\\s;|&(])#[^\\n]*', string: '"(?:[^"\\\\]|\\\\[^])*"?|\'[^\']*\'?', keywords: 'case cd do done echo elif else esac exit export fi for function if in local read return set shift source then unset until while sudo' },
  sql: { comment: '--[^\\n]*|/\\*[^]*?(?:\\*/|$)', string: "'(?:[^']|'')*'?", keywords: 'add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with' },
  css: { comment: '/\\*[^]*?(?:\\*/|$)', string: quoted, keywords: 'important media supports import keyframes layer container property root not is where has var calc' },
  html: { comment: '<!--[^]*?(?:-->|$)', string: quoted, keywords: '' },
  json: { comment: line, string: '"(?:[^"\\\\\\n]|\\\\[^])*"?', keywords: 'true false null' },
  yaml: { comment: '(?<![^\\s])#[^\\n]*', string: quoted, keywords: 'true false null yes no on off' },
};

/** @type {Record<string, string>} */
const aliases = {
  golang: 'go', js: 'javascript', jsx: 'javascript', mjs: 'javascript', ts: 'javascript', tsx: 'javascript', typescript: 'javascript', py: 'python', python3: 'python', rs: 'rust',
  h: 'c', cc: 'c', cpp: 'c', 'c++': 'c', cxx: 'c', hpp: 'c', objc: 'c', zig: 'c', cs: 'java', csharp: 'java', 'c#': 'java', kotlin: 'java', kt: 'java', scala: 'java', swift: 'java',
  rb: 'ruby', sh: 'shell', bash: 'shell', zsh: 'shell', console: 'shell', dockerfile: 'shell', makefile: 'shell', make: 'shell', scss: 'css', less: 'css', xml: 'html', svg: 'html', vue: 'html',
  jsonc: 'json', json5: 'json', jsonl: 'json', yml: 'yaml', toml: 'yaml', ini: 'yaml', mysql: 'sql', postgres: 'sql', postgresql: 'sql', sqlite: 'sql', patch: 'diff',
};

/** @type {Map<string, RegExp>} */
const patterns = new Map();

/** @param {string} name */
function patternOf(name) {
  let pattern = patterns.get(name);
  if (!pattern) {
    const { comment, string, keywords } = languages[name];
    const words = keywords ? `|(?<keyword>\\b(?:${keywords.split(' ').join('|')})\\b)` : '';
    pattern = new RegExp(`(?<comment>${comment})|(?<string>${string})|(?<number>\\b(?:0[xX][\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)\\b)${words}`, name === 'sql' ? 'gi' : 'g');
    patterns.set(name, pattern);
  }
  return pattern;
}

/**
 * Returns the language of code, "" if it is unknown.
 * @param {string} named
 * @param {string} code
 */
export function languageOf(named, code) {
  const name = named.toLowerCase();
  const known = aliases[name] ?? name;
  if (known === 'diff' || Object.hasOwn(languages, known)) return known;
  const start = code.slice(0, 400);
  if (/^(diff --git |--- .*\n\+\+\+ |@@ -\d)/m.test(start)) return 'diff';
  if (/^#!.*\b(ba|z)?sh\b/.test(start)) return 'shell';
  if (/^#!.*python/.test(start)) return 'python';
  if (/^#!.*node/.test(start)) return 'javascript';
  if (/^\s*[[{]\s*("|\{|\[)/.test(start)) return 'json';
  if (/^package \w+\n/m.test(start)) return 'go';
  return '';
}

/** @typedef {{kind: Kind, from: number, to: number}} Span */

/**
 * Returns what is painted in code.
 * @param {string} language
 * @param {string} code
 * @returns {Span[]}
 */
export function spans(language, code) {
  /** @type {Span[]} */
  const list = [];
  if (language === 'diff') {
    for (const m of code.matchAll(/^(?:(?<place>@@.*|diff .*|index .*|\+\+\+ .*|--- .*)|(?<added>\+.*)|(?<removed>-.*))$/gm)) push(list, m);
    return list;
  }
  if (Object.hasOwn(languages, language)) for (const m of code.matchAll(patternOf(language))) push(list, m);
  return list;
}

/** @param {Span[]} list @param {RegExpMatchArray} m */
function push(list, m) {
  const kind = Object.keys(m.groups ?? {}).find((k) => m.groups?.[k] !== undefined);
  if (kind && m[0]) list.push({ kind: /** @type {Kind} */ (kind), from: m.index ?? 0, to: (m.index ?? 0) + m[0].length });
}

/** The ranges of the blocks in view. @type {Map<Element, [Kind, Range][]>} */
const painted = new Map();

/** @param {Kind} kind */
function highlightOf(kind) {
  const name = `code-${kind}`;
  let h = CSS.highlights.get(name);
  if (!h) CSS.highlights.set(name, h = new Highlight());
  return h;
}

/** Returns the ranges of spans in an element. @param {Element} e @param {Span[]} list @returns {[Kind, Range][]} */
function rangesOf(e, list) {
  /** @type {[Kind, Range][]} */
  const ranges = [];
  const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
  let node = walker.nextNode();
  let start = 0;
  /** @param {number} offset @returns {[Node, number] | null} */
  const find = (offset) => {
    while (node && offset > start + (node.nodeValue?.length ?? 0)) {
      start += node.nodeValue?.length ?? 0;
      node = walker.nextNode();
    }
    return node ? [node, offset - start] : null;
  };
  for (const { kind, from, to } of list) {
    const a = find(from);
    const b = find(to);
    if (!a || !b) break;
    const range = new Range();
    range.setStart(...a);
    range.setEnd(...b);
    ranges.push([kind, range]);
  }
  return ranges;
}

/** @param {Element} e */
function paint(e) {
  if (painted.has(e)) return;
  const code = e.textContent ?? '';
  if (code.length > largest) return;
  const named = [...e.classList].find((c) => c.startsWith('language-'))?.slice('language-'.length) ?? '';
  const ranges = rangesOf(e, spans(languageOf(named, code), code));
  painted.set(e, ranges);
  for (const [kind, range] of ranges) highlightOf(kind).add(range);
}

/** @param {Element} e */
function unpaint(e) {
  for (const [kind, range] of painted.get(e) ?? []) highlightOf(kind).delete(range);
  painted.delete(e);
}

/** @type {IntersectionObserver | null} */
let observer = null;

/** The chunks, and blocks outside of them, that are in view. @type {WeakSet<Element>} */
const inView = new WeakSet();

/** Returns the blocks of code in an element, or the element if it is one. @param {Element} e */
function blocks(e) {
  return e.matches('pre') ? [e.querySelector('code') ?? e] : [...e.querySelectorAll('pre')].map((pre) => pre.querySelector('code') ?? pre);
}

/**
 * Paints the code in an element while it is in view. Chunks are observed, not their blocks:
 * the browser does not lay out what is in a chunk that is far from the view.
 * @param {Document | Element} root
 */
export function watch(root) {
  const chunks = root instanceof Element && root.matches('.chunk') ? [root] : [...root.querySelectorAll('.chunk')];
  const others = [...root.querySelectorAll('pre')].filter((pre) => !pre.closest('.chunk'));
  for (const e of [...chunks, ...others]) {
    observer?.observe(e);
    if (inView.has(e)) blocks(e).forEach(paint);
  }
}

export function start() {
  if (!('highlights' in CSS)) return;
  observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) inView.add(target);
      else inView.delete(target);
      blocks(target).forEach(isIntersecting ? paint : unpaint);
    }
  }, { rootMargin: '200px 0px' });
  watch(document);
}
