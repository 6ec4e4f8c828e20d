// Analyses texts: sentences, reading ease, repeated sentences, and different terms for the same thing.

const ABBREVIATIONS = /\b(e\.g|i\.e|etc|approx|incl|no|vs|mr|mrs|ms|dr|st|z\.B|u\.a|bzw|ca)\.$/i;

/**
 * Splits a text into sentences. An abbreviation such as "e.g." does not end a sentence.
 * @param {string} text @returns {string[]}
 */
export function splitSentences(text) {
  /** @type {string[]} */
  const sentences = [];
  /** @type {string[]} */
  let current = [];
  for (const part of text.split(/(?<=[.!?…])\s+/)) {
    current.push(part);
    if (ABBREVIATIONS.test(part)) continue;
    sentences.push(current.join(" ").trim());
    current = [];
  }
  if (current.length > 0) sentences.push(current.join(" ").trim());
  return sentences.filter((sentence) => /\p{L}/u.test(sentence));
}

/** @param {string} text */
const wordsOf = (text) => text.toLowerCase().match(/\p{L}[\p{L}\p{M}’'-]*/gu) ?? [];

/** Estimates the syllables of an English word by its groups of vowels. @param {string} word */
function countSyllables(word) {
  const letters = word.toLowerCase().replace(/[^a-z]/g, "");
  if (letters.length <= 3) return 1;
  const groups = letters.replace(/(?:[^laeiouy]es|ed|[^laeiouy]e)$/, "").match(/[aeiouy]{1,2}/g);
  return Math.max(1, groups?.length ?? 1);
}

/**
 * Measures a page's running text. `readingEase` is the Flesch score: 60 or more means plain English, and less than 30
 * means hard to read. The score is null for fewer than 50 words, because it is not meaningful for a short text.
 * @param {string[]} texts
 */
export function measure(texts) {
  const sentences = texts.flatMap(splitSentences);
  const words = sentences.flatMap(wordsOf);
  const syllables = words.reduce((sum, word) => sum + countSyllables(word), 0);
  const perSentence = words.length / Math.max(1, sentences.length);
  const ease = 206.835 - 1.015 * perSentence - 84.6 * (syllables / Math.max(1, words.length));
  return {
    words: words.length,
    sentences: sentences.length,
    wordsPerSentence: Math.round(perSentence * 10) / 10,
    readingEase: words.length < 50 ? null : Math.round(ease),
  };
}

const REPEAT_WORDS_MIN = 6;

/**
 * Finds sentences of six or more words that occur in several places.
 * @param {{ sentence: string, path: string, selector: string }[]} sentences
 */
export function findRepeats(sentences) {
  /** @type {Map<string, { phrase: string, places: { path: string, selector: string }[] }>} */
  const seen = new Map();
  for (const { sentence, path, selector } of sentences) {
    const words = wordsOf(sentence);
    if (words.length < REPEAT_WORDS_MIN) continue;
    const key = words.join(" ");
    const entry = seen.get(key) ?? { phrase: sentence, places: [] };
    entry.places.push({ path, selector });
    seen.set(key, entry);
  }
  return [...seen.values()]
    .filter(({ places }) => places.length > 1)
    .sort((one, other) => other.places.length - one.places.length);
}

/** Groups of equivalent terms that pages often mix. */
const COMMON = [
  ["sign in", "log in", "login", "signin"],
  ["sign up", "register", "create account"],
  ["sign out", "log out", "logout"],
  ["email", "e-mail"],
  ["cart", "basket", "shopping bag"],
  ["checkout", "check-out"],
  ["shipping", "delivery"],
  ["free trial", "trial period", "test period"],
  ["website", "web site"],
  ["customer", "client"],
  ["settings", "preferences"],
  ["delete", "remove"],
  ["color", "colour"],
  ["favorites", "favourites", "wishlist"],
  ["canceled", "cancelled"],
  ["zip code", "postcode", "postal code"],
];

/**
 * Finds the groups of equivalent terms from which the texts use more than one term. With a glossary, checks only the
 * groups of the glossary, and finds those from which the texts use a term other than the first (preferred) one.
 * @param {{ text: string, path: string, selector: string }[]} texts @param {string[][]} [glossary]
 */
export function findVariants(texts, glossary) {
  return (glossary ?? COMMON).flatMap((group) => {
    const uses = group.map((term) => {
      const pattern = new RegExp(
        `(?<![\\p{L}-])${term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}-])`,
        "iu",
      );
      return { term, places: texts.filter(({ text }) => pattern.test(text)) };
    });
    const used = uses.filter(({ places }) => places.length > 0);
    const isMixed = glossary ? used.some(({ term }) => term !== group[0]) : used.length > 1;
    if (!isMixed) return [];
    // Reports only places to change, at most four. With a glossary, these are the places that use a term that is not
    // preferred. Without one, these are the places that use any term but the most frequent one.
    const rare = glossary
      ? used.filter(({ term }) => term !== group[0])
      : used.toSorted((one, other) => one.places.length - other.places.length).slice(0, -1);
    return [
      {
        terms: used.map(({ term, places }) => ({ term, count: places.length })),
        places: rare.flatMap(({ places }) => places).slice(0, 4),
        isGiven: glossary !== undefined,
      },
    ];
  });
}
