import { readTaskText } from "../demo-task.ts";
import { type MarkedText, markQuotes, splitClauses, unmark } from "./clauses.ts";
import type { ElementPhrase } from "./element-phrase.ts";
import { type Edit, readEdits } from "./read-edit.ts";

/** A message that asks for changes to a page. */
export type EditRequest = {
  /** URL of the page to open first. */
  url?: string;
  /** The part of the site to change, as the message names it, such as `checkout`. */
  place?: string;
  /** Which changes to undo: the changes of the last revision, or all changes. Absent if nothing is to be undone. */
  undo?: "last" | "all";
  edits: Edit[];
  /** Parts of the message that are not carried out: the rules do not understand them, or there are too many edits. */
  leftOut: string[];
};

/** Maximum number of characters that are read from the beginning of a message. */
const MESSAGE_CHARACTERS_MAX = 4_000;
/** Maximum number of edits in one message. Further edits are only listed in `leftOut`. */
const EDITS_MAX = 12;

const COURTESY =
  /^(?:(?:and|then|now|next|also|please|just|kindly|ok(?:ay)?|hi|hello|hey|so|but|well|great|thanks|thank you)(?:[\s,:!.]+|$)|(?:first|second|third|finally|last),\s*|(?:can|could|would|will) you(?: please)?\s+|(?:i(?:['’]d| would)? (?:want|like|need) you to|i (?:want|would like|need) to|i['’]d like to|let['’]?s|let us|we (?:want|need|have) to|you should|go ahead and|try to|help me(?: to)?)\s+)/i;
const OPENING = /^(?:open|go to|visit|navigate to|load|look at|on|in)\s+(.+)$/i;
const LEADING_PLACE = /^(?:on|in|at|for)\s+(?:the\s+|my\s+|our\s+)?([\w -]{1,40}?)(?:\s+page)?,\s+(?=\S)/i;
const TRAILING_PLACE =
  /\s+(?:on|in|from)\s+(?:the|this|that|our|my)\s+(?:([\w -]{1,30}?)\s+)?(?:page|site|website|screen)[\s.!?]*$/i;
const DESTINATION = /\s+(?:on|in|at)\s+(?:the|my)\s+(checkout|cart|basket)[\s.!?]*$/i;
/** Matches words for the page that is open. */
const THIS_PAGE =
  /^(?:the |this |current |same |live |open |home|front|landing|main|start|web|page|site|shop|demo)*$/i;
const UNDO =
  /^(?:(?:undo|revert|roll ?back|take back|cancel|discard)(?:\s+(?<what>.+))?|(?:take|put|bring|change|set|roll)\s+(?<thing>that|it|this|them|everything|all of (?:it|that)|the (?:last )?changes?)\s+back(?:\s+(?:again|as it was|to (?:how|what) it was|to normal))?|go back(?: to (?:how it was|the original)(?: page)?)?)$/i;
const UNDONE =
  /^(?:that|it|this|them|those|everything|all|all of (?:it|that|them)|(?:all )?(?:(?:the|your|my|that|this|those|these) )?(?:last |latest |previous )?(?:changes?|edits?|one|revisions?|step))(?: (?:you made|again|please))*$/i;
/** Every edit is checked, so a clause that only asks for this is carried out. */
const CHECK =
  /^(?:check|verify|prove)(?: (?:it|that|this|them|(?:the|your|my|that|this) (?:changes?|edits?|variant|revision|result)))?[.!]?$/i;
const CHANGE_VERB =
  /^(?:change|rename|replace|hide|remove|delete|get rid of|insert|undo|revert|make (?:the|all|every|it)|turn the|set the)\b/i;

/**
 * Reads a request to change a page; undefined for a question or any other message.
 *
 * @param before the elements that `it` and `them` refer to at the beginning of the message.
 */
export function readEditRequest(message: string, before?: ElementPhrase): EditRequest | undefined {
  const beginning = readTaskText(message).slice(0, MESSAGE_CHARACTERS_MAX);
  const marked = markQuotes(beginning.replace(/[^\S\n]+/g, " "));
  const request: EditRequest = { edits: [], leftOut: [] };
  const url = /https?:\/\/[^\s<>)\]]{1,2000}/i.exec(marked.text)?.[0].replace(/[.,;:!?]+$/, "");
  if (url !== undefined) request.url = url;
  const text = marked.text.replace(/(?:\b(?:on|in|at|of|open|visit|go to)\s+)?https?:\/\/\S+/gi, (found) =>
    /[,;.]$/.test(found) ? found.slice(-1) : " ",
  );
  let isChange = false;
  for (const { words, isInstruction } of splitClauses(text)) {
    const clause = stripCourtesies(words);
    if (!/[\p{L}\p{N}\uE000]/u.test(clause)) continue;
    if (isInstruction && readClause(request, clause, marked, before)) isChange = true;
    else if (!OPENING.test(clause) && !CHECK.test(clause)) {
      request.leftOut.push(unmark(clause, marked.quotes, "“", "”"));
      isChange ||= isInstruction && CHANGE_VERB.test(clause);
    }
  }
  request.leftOut.push(...request.edits.splice(EDITS_MAX).map((edit) => edit.words));
  return isChange ? request : undefined;
}

function stripCourtesies(words: string): string {
  let rest = words.trim();
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replace(COURTESY, "").trimStart();
  }
  return rest.replace(/[\s,]*\b(?:please|thanks|thank you)[\s.!?]*$/i, "").trim();
}

/** Reads the changes in a clause and adds them to the request. @returns whether the clause asks for a change. */
function readClause(
  request: EditRequest,
  clause: string,
  { quotes }: MarkedText,
  before: ElementPhrase | undefined,
): boolean {
  const undo = UNDO.exec(clause.replace(/[\s.!?]+$/, ""));
  if (undo && (undo.groups?.what === undefined || UNDONE.test(undo.groups.what))) {
    const what = undo.groups?.what ?? undo.groups?.thing ?? "";
    request.undo = /everything|\ball\b|original/i.test(`${what} ${clause}`) ? "all" : "last";
    return true;
  }
  const { words, place } = splitPlace(clause);
  const previous = request.edits.at(-1)?.target ?? before;
  const edits = words === "" ? undefined : readEdits({ words, quotes, previous });
  if (place !== undefined) request.place ??= place;
  request.edits.push(...(edits ?? []));
  return edits !== undefined;
}

/**
 * Separates the name of a page from a clause: `on the checkout page, …`, `… on the checkout page`, `open the checkout`.
 */
function splitPlace(clause: string): { words: string; place?: string } {
  const opened = OPENING.exec(clause)?.[1];
  const leading = LEADING_PLACE.exec(clause);
  const trailing = TRAILING_PLACE.exec(clause) ?? DESTINATION.exec(clause);
  const found = leading ?? trailing;
  const words = found ? clause.replace(found[0], "").trim() : opened === undefined ? clause : "";
  const place = (found?.[1] ?? (found ? "" : opened) ?? "")
    .replace(/^(?:the|this|my|our)\s+/i, "")
    .replace(/[\s.,!?]+$|\s+page\b.*$/gi, "");
  return THIS_PAGE.test(place) || place.includes("\uE000") ? { words } : { words, place };
}
