import { storableText } from "#db/storable.ts";
import { CALL_TOOL } from "#lib/catalogue/tools.ts";
import type { PlanningState } from "#lib/planning/planning-store.ts";
import type { ImportedConversation } from "#lib/session/store/imported-messages-store.ts";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import type { VariantState } from "#lib/variant/variant-history-store.ts";
import type { HistoryEntry, HistoryMessage } from "../history/history-entry.ts";
import { readOutput } from "../history/read-output.ts";
import { addedMessage } from "./added-message.ts";
import { describePlan, isMode, UNMET_HEADING } from "./describe-planning.ts";
import { describeVariants } from "./describe-variants.ts";
import { listFurtherPages } from "./list-further-pages.ts";

/** What can change between two turns of a session. */
export type SessionState = {
  currentUrl: string | null;
  /** The page that the session selects. */
  selectedUrl: string | null;
  /** All pages that the session has as targets. */
  targetPageUrls: readonly string[];
  demoUrl: string;
  /** The variants of the session's tree (root session and sub-agents); empty in a session that may not edit. */
  variants: readonly VariantState[];
  planning: PlanningState;
  /** Conversations that were imported into the session. */
  imports: readonly ImportedConversation[];
  /** Whether a person waits on the session page. */
  mayAskPeople: boolean;
  /** Whether the session is a sub-agent: the pages were chosen by the agent above it, perhaps from a page. */
  isSubAgent: boolean;
  hasBrowser: boolean;
  hasTool: (name: string) => boolean;
};

const HEADING = "At the start of this turn:";
const NO_PERSON =
  "No person is waiting on the session page during this turn: do not ask questions; state the assumption you make and continue.";
const NOTHING = "What earlier messages of this kind said does not apply any more.";

/**
 * Composes the message that tells the model the state of the session at the start of a turn. The state is not part of
 * the instructions, so that the prompts of a session begin with the same text and providers can cache it. Undefined if
 * the newest message of this kind in the history says the same. Source: decision 110.
 */
export function composeState(
  state: SessionState,
  entries: readonly HistoryEntry[],
): HistoryMessage | undefined {
  const lines = [...describePages(state), ...describeWork(state), ...describePerson(state)];
  const last = findLastState(entries);
  if (lines.length === 0 && !last) return undefined;
  const text = [HEADING, ...(lines.length > 0 ? lines : [NOTHING])].join("\n");
  const message = addedMessage(storableText(text));
  return last && textOf(last) === textOf(message) ? undefined : { ...message, isState: true };
}

/**
 * Like {@link composeState}, for a turn that continues after an interruption: only if the conversation does not say yet
 * what people have changed in variants, plan and requirements, or which conversations were imported.
 */
export function composeChangedState(
  state: SessionState,
  entries: readonly HistoryEntry[],
): HistoryMessage | undefined {
  const edited = state.variants.filter(({ edits }) => edits !== null);
  const lines = describeWork({ ...state, variants: edited }).flatMap((text) =>
    withoutMarks(text).split("\n"),
  );
  const last = findLastState(entries);
  const told = (last ? textOf(last) : "").split("\n");
  // The agent's own changes are in the results of its calls.
  const own = listOwnResults(entries).flatMap((text) => text.split("\n"));
  const isKnown = (line: string) =>
    line === "" ||
    line === UNMET_HEADING ||
    told.includes(line) ||
    // A result adds notes to the line of a requirement.
    own.some((each) => each.startsWith(line));
  const isOver = (line: string) =>
    !lines.includes(line) && (isMode(line) || (own.length === 0 && line.startsWith("- r")));
  return lines.every(isKnown) && !told.some(isOver) ? undefined : composeState(state, entries);
}

/** The tools with which the agent itself changes the plan, requirements and imports. */
const OWN_TOOLS = [
  "update_plan",
  "add_requirements",
  "update_requirement",
  "import_legacy_session",
  CALL_TOOL,
];

/** Lists the results of the agent's own changes since the newest message about the state. */
function listOwnResults(entries: readonly HistoryEntry[]): string[] {
  const from = entries.findLastIndex(({ messages }) => messages.some(isState));
  return entries
    .slice(from + 1)
    .flatMap(({ messages }) =>
      messages.flatMap(({ role, content }) =>
        role === "tool"
          ? content.flatMap((part) =>
              part.type === "tool-result" && OWN_TOOLS.includes(part.toolName)
                ? [withoutMarks(readOutput(part.output).text)]
                : [],
            )
          : [],
      ),
    );
}

const findLastState = (entries: readonly HistoryEntry[]): HistoryMessage | undefined =>
  entries.findLast(({ messages }) => messages.some(isState))?.messages.findLast(isState);

const isState = (message: HistoryMessage): boolean => message.isState === true;

const textOf = ({ content }: HistoryMessage): string =>
  typeof content === "string" ? withoutMarks(content) : "";

/** Removes the marks around data, which differ between processes. */
const withoutMarks = (text: string): string => text.replace(/<\/?data-[0-9a-f]{12}>/g, "");

function describePages(state: SessionState): string[] {
  const { currentUrl, selectedUrl, targetPageUrls, demoUrl } = state;
  const lines: string[] = [];
  // The page decides its address. The caller's own addresses are not data of a page.
  const isOwnUrl = currentUrl === selectedUrl && !state.isSubAgent;
  const current = `Current page: ${currentUrl}`;
  if (currentUrl) lines.push(isOwnUrl ? current : quoteAsData("the page", current));
  const targets = [
    ...(selectedUrl ? [`Target page: ${selectedUrl}`] : []),
    ...listFurtherPages(targetPageUrls, [selectedUrl]),
  ].map(inOneLine);
  if (state.isSubAgent && targets.length > 0)
    lines.push(quoteAsData("the agent above you", targets.join("\n")));
  else lines.push(...targets);
  return lines.length === 0 && state.hasBrowser ? [`Demo page: ${demoUrl}`] : lines;
}

/** An address may contain line breaks, which browsers ignore. */
const inOneLine = (line: string): string => line.replace(/[\p{Cc}\u2028\u2029]/gu, "");

/** Describes the variants, the plan, the requirements and the imported conversations. */
function describeWork({ variants, planning, imports, hasBrowser, hasTool }: SessionState): string[] {
  const shown = hasTool("apply_variant") ? describeVariants(variants, hasBrowser) : [];
  const read = hasTool("read_message") ? describeImports(imports) : [];
  return [...shown, ...describePlan(planning, hasTool), ...read];
}

/**
 * Tells the model how to read imported messages. The state contains only the ids of the messages, never their text.
 */
const describeImports = (imports: readonly ImportedConversation[]): string[] =>
  imports.map(
    ({ importId, messageCount }) =>
      `A conversation of another session was imported: read_message reads its messages, ${importId}/1 to ${importId}/${messageCount}, and search_transcript finds them.`,
  );

const describePerson = ({ mayAskPeople }: SessionState): string[] => (mayAskPeople ? [] : [NO_PERSON]);
