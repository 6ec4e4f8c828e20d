/**
 * Words that comments, texts, test names and documents must not contain, each with what to write instead. `npm run check`
 * reports such words.
 * @type {[avoided: RegExp, instead: string][]}
 */
export const AVOIDED_WORDS = [
  [/\bwhoever\b/, "the caller, the executor, the client: name the actor"],
  [/(?<!`)\bnobody\b/, "no client, no process: name the actor"],
  [/\bsomebody\b/, "a client, another process: name the actor"],
  [/\banew\b/, "again"],
  [/\bat hand\b/, "current"],
  [/\bfor ever\b/, "permanently"],
  [/\bfor good\b/, "permanently"],
  [/\bfrom here on\b/, "after this"],
  [/\bgo(es)? on (with|where|as|by|in|at|on|after|from|without|behind)\b/, "continue"],
  [/(?<!\|)\bbeside\b/, "next to, in addition to, during"],
  [/\btold of\b/, "notified of"],
  [/\bstands? (there|here|at|in|behind|before)\b/, "is"],
  [/\blook(s|ed)? after\b/, "handle, maintain"],
  [/\btakes? note of\b/, "record"],
  [/\bwhat (became|has become|becomes) of\b/, "the outcome of"],
  [/\bfor want of\b/, "because it lacks"],
  [/\bmade up for\b/, "compensated"],
  [/\b(is|are|was|were) found out\b/, "detected"],
  [/\bwithout a word\b/, "without an error"],
  [/\bin vain\b/, "without success"],
  [/\bas yet\b/, "yet"],
];
