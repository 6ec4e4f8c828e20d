import type { BrowserContext, Dialog, Page } from "playwright";
import { shorten } from "#lib/text/shorten.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import type { DialogAnswer, PeopleDialogs } from "../stage/people-dialogs.ts";

/**
 * An answered dialog. `by` is `default` if the service answered, `timeout` if the service answered because a script did
 * not, `script` if a script answered, and `person` if the person did who has control of the browser.
 */
export type AnsweredDialog = {
  kind: string;
  message: string;
  isAccepted: boolean;
  by: "default" | "timeout" | "script" | "person";
  /** The text that a script or a person entered into a prompt. */
  input?: string;
};

/**
 * A running script that answers the dialogs that open while the script listens for dialogs. The browser announces each
 * dialog twice: on the service's connection, and on the script's own connection.
 */
type DialogClaim = {
  /** Whether the script listens for dialogs at this moment. */
  isListening: () => boolean;
};

/** An active claim of a script. The caller reports what the browser announces on the script's connection. */
type HeldClaim = {
  /**
   * Reports that the browser announced a dialog on the script's connection. Records whether the script listens now,
   * because the script may stop listening before the browser announces the dialog on the service's connection.
   *
   * @param target the page's id on the script's connection.
   */
  recordShown: (target: string, kind: string, message: string) => void;
  /**
   * Reports that the browser announced the end of a page's dialog on the script's connection. `isAccepted` and `input`
   * are the answer that the dialog got.
   */
  recordClosed: (target: string, isAccepted: boolean, input: string) => void;
  /** Ends the claim. The service then answers the open dialogs that were left to the script. */
  release: () => void;
};

/** The dialogs (alert, confirm, prompt, beforeunload) of all pages of one browser context. */
export type PageDialogs = {
  /** Lets a script answer the dialogs that open while it listens for dialogs. */
  claim: (claim: DialogClaim) => HeldClaim;
};

type ShownDialog = { kind: string; message: string; key: string; wasListening: boolean };

type ClaimEntry = {
  claim: DialogClaim;
  /** Dialogs that the browser has announced only on the script's connection so far. */
  seenByScript: ShownDialog[];
  /**
   * Keys (`keyOf`) of dialogs that the browser has announced only on the service's connection so far. Dialogs of the
   * same kind with the same message have the same key.
   */
  seenByService: string[];
  /** The open dialog of each page, as the browser announced it on the script's connection. */
  open: Map<string, ShownDialog>;
  /** Keys of dialogs whose end the browser has announced only on the script's connection so far. */
  closed: string[];
  /** Keys of dialogs that the service has answered, and whose end is not announced on the script's connection yet. */
  answered: string[];
};

/** How long a script may take to answer a dialog. The page is blocked during this time. */
const ANSWER_TIMEOUT_MS = 10_000;

/** How much later the browser may announce a dialog on the service's connection than on the script's connection. */
const LATE_MS_MAX = 5_000;

/** Maximum length of a dialog's message and of the text that a script enters. The page decides the length. */
const MESSAGE_CHARS_MAX = 1_000;
/**
 * Maximum length of each list of dialogs. Beyond it, the oldest entry is dropped: a page in a loop may open dialogs that
 * are announced on one of the two connections only.
 */
const NOTED_MAX = 200;

type Watch = {
  guard: ListenerGuard;
  claims: Set<ClaimEntry>;
  /** Dialogs that a script has to answer. `takeBack` makes the service answer the dialog in place of the script. */
  delegated: Map<Dialog, { entry: ClaimEntry; takeBack: () => void; timer: NodeJS.Timeout }>;
  onAnswered: (dialog: AnsweredDialog) => void;
  /** Keys of dialogs that were passed to `onAnswered` before the browser announced them on the service's connection. */
  reported: string[];
  people: Pick<PeopleDialogs, "offer" | "forget">;
  answerTimeoutMs: number;
};

const NO_PEOPLE: Watch["people"] = { offer: () => false, forget() {} };

/**
 * Answers the dialogs of a context. The service answers them nowhere else, so that two answers never race. A dialog
 * that opens while a script listens is left to the script until the timeout or the end of the script's claim. One that
 * opens while a person has control is left to `people`. Every other dialog is answered immediately: `beforeunload` is
 * accepted, so that the navigation continues; the others are dismissed.
 */
export function watchDialogs(
  context: BrowserContext,
  guard: ListenerGuard,
  onAnswered: (dialog: AnsweredDialog) => void,
  {
    people = NO_PEOPLE,
    answerTimeoutMs = ANSWER_TIMEOUT_MS,
  }: Partial<Pick<Watch, "people" | "answerTimeoutMs">> = {},
): PageDialogs {
  const watch: Watch = {
    guard,
    claims: new Set(),
    delegated: new Map(),
    onAnswered,
    reported: [],
    people,
    answerTimeoutMs,
  };
  const onDialog = (dialog: Dialog) => {
    const entry = [...watch.claims].find((each) => belongsTo(each, dialog));
    if (entry) leaveTo(watch, entry, dialog);
    else if (!people.offer(dialog, (given) => answer(watch, dialog, given))) answer(watch, dialog, "default");
  };
  const onPageClosed = (page: Page) => {
    for (const dialog of [...watch.delegated.keys()]) if (dialog.page() === page) settle(watch, dialog);
  };
  const onClosed = (dialog: Dialog) => {
    settle(watch, dialog);
    people.forget(dialog);
  };
  context.on("dialog", guard(onDialog));
  context.on("dialogclosed", guard(onClosed));
  context.on(
    "page",
    guard((page) => page.on("close", guard(onPageClosed))),
  );
  return { claim: (claim) => addClaim(watch, claim) };
}

function answer(watch: Watch, dialog: Dialog, given: "timeout" | DialogAnswer): void {
  const shown = { kind: dialog.type(), message: messageOf(dialog) };
  const answered = typeof given === "string" ? answerOf(shown, given) : answerOfPerson(shown, given);
  const key = keyOf(shown.kind, shown.message);
  for (const { answered: keys } of watch.claims) addEntry(keys, key);
  // The dialog is reported before its answer lets the page continue. If a script ends immediately after the answer, the
  // dialog is then already reported.
  if (!drop(watch.reported, key)) watch.onAnswered(answered);
  // Answering fails if the page was closed together with its dialog.
  const text = typeof given === "string" ? undefined : given.text;
  void (answered.isAccepted ? dialog.accept(text) : dialog.dismiss()).catch(() => {});
}

function leaveTo(watch: Watch, entry: ClaimEntry, dialog: Dialog): void {
  const takeBack = () => {
    const isClosed = entry.closed.includes(keyOf(dialog.type(), messageOf(dialog)));
    if (settle(watch, dialog) && !isClosed) answer(watch, dialog, "timeout");
  };
  watch.delegated.set(dialog, {
    entry,
    takeBack,
    timer: setTimeout(watch.guard(takeBack), watch.answerTimeoutMs),
  });
}

/** Removes a dialog from `delegated`. @returns whether the dialog was in there. */
function settle({ delegated }: Watch, dialog: Dialog): boolean {
  const delegation = delegated.get(dialog);
  if (!delegation) return false;
  clearTimeout(delegation.timer);
  drop(delegation.entry.closed, keyOf(dialog.type(), messageOf(dialog)));
  return delegated.delete(dialog);
}

function addClaim(watch: Watch, claim: DialogClaim): HeldClaim {
  const { claims, delegated } = watch;
  const entry: ClaimEntry = {
    claim,
    seenByScript: [],
    seenByService: [],
    open: new Map(),
    closed: [],
    answered: [],
  };
  claims.add(entry);
  return {
    recordShown(target, kind, whole) {
      const message = shorten(whole, MESSAGE_CHARS_MAX);
      const dialog = { kind, message, key: keyOf(kind, message), wasListening: claim.isListening() };
      entry.open.set(target, dialog);
      if (!drop(entry.seenByService, dialog.key)) addEntry(entry.seenByScript, dialog);
    },
    recordClosed(target, isAccepted, input) {
      const dialog = entry.open.get(target);
      entry.open.delete(target);
      if (!dialog) return;
      addEntry(entry.closed, dialog.key);
      if (drop(entry.answered, dialog.key) || !dialog.wasListening) return;
      const { kind, message } = dialog;
      const typed = kind === "prompt" && isAccepted ? { input: shorten(input, MESSAGE_CHARS_MAX) } : {};
      watch.onAnswered({ kind, message, isAccepted, by: "script", ...typed });
    },
    release() {
      claims.delete(entry);
      // A dialog may be open that the browser has announced only on the script's connection so far. Such a dialog is
      // reported now. The service answers it later, when the browser announces it on the service's connection.
      const open = new Set(entry.open.values());
      for (const dialog of entry.seenByScript) {
        if (!open.has(dialog) && !dialog.wasListening) continue;
        expectReported(watch, dialog.key);
        if (open.has(dialog)) watch.onAnswered(answerOf(dialog, dialog.wasListening ? "timeout" : "default"));
      }
      for (const delegation of [...delegated.values()]) if (delegation.entry === entry) delegation.takeBack();
    },
  };
}

/** Prevents a second report of a dialog when the browser announces it on the service's connection. */
function expectReported({ reported }: Watch, key: string): void {
  addEntry(reported, key);
  setTimeout(() => drop(reported, key), LATE_MS_MAX).unref();
}

/**
 * Whether a dialog is left to the script of this claim. This is so if the script listened when the browser announced
 * the dialog on the script's connection. If the browser has not announced the dialog there yet, the script must listen
 * now.
 */
function belongsTo({ claim, seenByScript, seenByService }: ClaimEntry, dialog: Dialog): boolean {
  const key = keyOf(dialog.type(), messageOf(dialog));
  const at = seenByScript.findIndex((each) => each.key === key);
  if (at >= 0) return seenByScript.splice(at, 1)[0]?.wasListening === true;
  addEntry(seenByService, key);
  return claim.isListening();
}

const answerOf = (
  { kind, message }: Pick<AnsweredDialog, "kind" | "message">,
  by: "default" | "timeout",
): AnsweredDialog => ({ kind, message, isAccepted: kind === "beforeunload", by });

const answerOfPerson = (
  { kind, message }: Pick<AnsweredDialog, "kind" | "message">,
  { isAccepted, text }: Exclude<DialogAnswer, "default">,
): AnsweredDialog => ({
  kind,
  message,
  isAccepted,
  by: "person",
  ...(text !== undefined && { input: shorten(text, MESSAGE_CHARS_MAX) }),
});

/** The message of a dialog, as both connections and the report have it. */
const messageOf = (dialog: Dialog): string => shorten(dialog.message(), MESSAGE_CHARS_MAX);

/** Adds an entry to a list, and drops the oldest entry if there are too many. */
function addEntry<Entry>(entries: Entry[], entry: Entry): void {
  entries.push(entry);
  if (entries.length > NOTED_MAX) entries.shift();
}

/** Removes one occurrence of `key`. @returns whether there was one. */
function drop(keys: string[], key: string): boolean {
  const index = keys.indexOf(key);
  if (index >= 0) keys.splice(index, 1);
  return index >= 0;
}

const keyOf = (kind: string, message: string) => `${kind} ${message}`;
