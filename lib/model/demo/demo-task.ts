/** A part of a page that the task asks about. */
export type Want = "fields" | "headings" | "links" | "buttons" | "prices" | "images" | "forms";

/** A task, as the rules of the demo model read it from a message. */
export type DemoTask = {
  url?: string;
  wants: Want[];
  /** The part of the site that the task names, such as the checkout. The demo model follows a link to this part. */
  destination?: Destination;
  wantsScreenshot: boolean;
  /** False when the rules find no task in the text. */
  isUnderstood: boolean;
};

type Destination = { word: string; matches: RegExp };

const WANT_WORDS: [Want, RegExp][] = [
  [
    "fields",
    /\b(forms?|fields?|inputs?|asks? (me )?for|asked for|requires?|required|fill|questions?|checkout|sign ?up|register)\b/i,
  ],
  // The model queries the page in the order of this list. The page query for prices also returns some headings. If it
  // ran before the query for headings, these would be listed first, and not in the order of the page.
  ["headings", /\b(headings?|headlines?|sections?|structure|outline|titles?)\b/i],
  ["prices", /\b(prices?|pricing|costs?|how much|products?|sells?|offers?|cheapest)\b/i],
  ["links", /\b(links?|navigation|menu|nav)\b/i],
  ["buttons", /\b(buttons?|calls? to action|ctas?)\b/i],
  ["images", /\b(images?|pictures?|photos?|alt texts?)\b/i],
  ["forms", /\b(number of|how many) forms\b/i],
];

const DESTINATIONS: Destination[] = [
  { word: "checkout", matches: /check-?\s?out/i },
  { word: "cart", matches: /\b(cart|basket|bag)\b/i },
  { word: "contact", matches: /\bcontact/i },
  { word: "pricing", matches: /\b(pricing|plans)\b/i },
  { word: "login", matches: /\b(log-?\s?in|sign-?\s?in)\b/i },
  { word: "sign-up", matches: /\b(sign-?\s?up|register)\b/i },
  { word: "about", matches: /\babout us\b/i },
];

const generalWords =
  /\b(page|site|website|shop|look|describe|summari[sz]e|summary|overview|review|check|inspect|open|visit|navigate|go to|what is on|read|audit|analy[sz]e)\b/i;

/** Maximum number of characters that are read from the beginning of a message. The rest is ignored. */
const MESSAGE_CHARACTERS_MAX = 20_000;

/**
 * Matches a line about a page that a caller or the service added to the message. Such a line is not part of the task.
 */
const CONTEXT_LINE = /^[ \t*-]{0,8}(current|target|demo) pages? ?:.*$/gim;

/** Returns the part of a message that can contain a task: its beginning, without added lines about a page. */
export const readTaskText = (message: string): string =>
  message.slice(0, MESSAGE_CHARACTERS_MAX).replace(CONTEXT_LINE, "");

/** Reads the task from the text of the last user message. */
export function readDemoTask(message: string): DemoTask {
  const text = readTaskText(message);
  const url = text
    .match(/https?:\/\/[^\s<>"'`)\]]+/i)?.[0]
    .slice(0, 2_000)
    .replace(/[.,;:!?]+$/, "");
  const words = text.replace(/https?:\/\/\S+/gi, " ");
  const wants = WANT_WORDS.filter(([, pattern]) => pattern.test(words)).map(([want]) => want);
  const destination = DESTINATIONS.find(({ matches }) => matches.test(words));
  const wantsScreenshot = /\b(screenshots?|screen shots?|capture|snapshot)\b/i.test(words);
  return {
    ...(url ? { url } : {}),
    wants,
    ...(destination ? { destination } : {}),
    wantsScreenshot,
    isUnderstood:
      url !== undefined ||
      wants.length > 0 ||
      destination !== undefined ||
      wantsScreenshot ||
      generalWords.test(words),
  };
}
