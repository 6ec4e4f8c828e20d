import type { BrowserContext, Dialog } from "playwright";

/**
 * An answered dialog. `by` says who answered: the service by default, the service because a script's listener timed out, or
 * the script.
 */
export type AnsweredDialog = {
  kind: string;
  message: string;
  isAccepted: boolean;
  by: "default" | "timeout" | "script";
  /** The text that a script entered into a prompt. */
  input?: string;
};

/**
 * A running script's claim to answer the dialogs that open while the script listens for dialogs. The script has its own
 * connection to the browser, on which the browser announces dialogs, too.
 */
type DialogClaim = {
  /** Whether the script listens for dialogs at this moment. */
  isListening: () => boolean;
};

/** Controls an active claim. */
type HeldClaim = {
  /**
   * Reports that the script's own connection has announced a dialog. The script may answer it and stop listening before
   * the service's connection announces the same dialog, so this records whether the script listens now.
   *
   * @param target the page's id on the script's connection.
   */
  noteShown: (target: string, kind: string, message: string) => void;
  /** Reports that the script's own connection has announced that a page's dialog was closed, and with which answer. */
  noteClosed: (target: string, isAccepted: boolean, input: string) => void;
  /** Ends the claim and answers the script's dialogs that are still open. */
  release: () => void;
};

/** The dialogs (alert, confirm, prompt, beforeunload) of all pages of one browser context. */
export type PageDialogs = {
  /** Leaves dialogs to a script while it listens for them. */
  claim: (claim: DialogClaim) => HeldClaim;
};

type ShownDialog = { kind: string; message: string; key: string; wasListening: boolean };

type ClaimEntry = {
  claim: DialogClaim;
  /** Dialogs that only the script's connection has announced so far. */
  seenByScript: ShownDialog[];
  /** Keys of dialogs that only the service's connection has announced so far. */
  seenByService: string[];
  /** The open dialog of each page, as announced by the script's connection. */
  open: Map<string, ShownDialog>;
  /** Keys of dialogs whose end only the script's connection has announced so far. */
  closed: string[];
  /** Keys of dialogs that the service has answered and whose end the script's connection has not announced yet. */
  answered: string[];
};

/** How long a script's listener may take to answer; the page is blocked meanwhile. */
const ANSWER_TIMEOUT_MS = 10_000;

/** How much later than the script's connection the service's connection may announce the same dialog. */
const LATE_MS_MAX = 5_000;

type Watch = {
  claims: Set<ClaimEntry>;
  /** Dialogs that a script has to answer. `takeBack` answers the dialog in place of the script. */
  delegated: Map<Dialog, { entry: ClaimEntry; takeBack: () => void; timer: NodeJS.Timeout }>;
  onAnswered: (dialog: AnsweredDialog) => void;
  /** Keys of dialogs that were reported before the service's own connection announced them. */
  reported: string[];
  answerTimeoutMs: number;
};

/**
 * Answers the dialogs of a context. No other code answers them, so that two answers never race. A dialog that opens while a
 * script listens belongs to the script until the timeout or the end of its claim. Every other dialog is answered
 * immediately: `beforeunload` is accepted, so that the navigation continues; the others are dismissed.
 */
export function watchDialogs(
  context: BrowserContext,
  onAnswered: (dialog: AnsweredDialog) => void,
  answerTimeoutMs = ANSWER_TIMEOUT_MS,
): PageDialogs {
  const watch: Watch = { claims: new Set(), delegated: new Map(), onAnswered, reported: [], answerTimeoutMs };
  context.on("dialog", (dialog) => {
    const entry = [...watch.claims].find((each) => belongsTo(each, dialog));
    if (entry) leaveTo(watch, entry, dialog);
    else answer(watch, dialog, "default");
  });
  context.on("dialogclosed", (dialog) => settle(watch, dialog));
  context.on("page", (page) => {
    page.on("close", () => {
      for (const dialog of [...watch.delegated.keys()]) if (dialog.page() === page) settle(watch, dialog);
    });
  });
  return { claim: (claim) => addClaim(watch, claim) };
}

function answer(watch: Watch, dialog: Dialog, by: "default" | "timeout"): void {
  const answered = answerOf({ kind: dialog.type(), message: dialog.message() }, by);
  const key = keyOf(dialog.type(), dialog.message());
  for (const { answered: keys } of watch.claims) keys.push(key);
  // Report the dialog before the page continues. If the script ends right after that, its report must include the dialog.
  if (!drop(watch.reported, key)) watch.onAnswered(answered);
  // Answering fails if the page was closed together with its dialog.
  void (answered.isAccepted ? dialog.accept() : dialog.dismiss()).catch(() => {});
}

function leaveTo(watch: Watch, entry: ClaimEntry, dialog: Dialog): void {
  const takeBack = () => {
    const isClosed = entry.closed.includes(keyOf(dialog.type(), dialog.message()));
    if (settle(watch, dialog) && !isClosed) answer(watch, dialog, "timeout");
  };
  watch.delegated.set(dialog, { entry, takeBack, timer: setTimeout(takeBack, watch.answerTimeoutMs) });
}

/** Removes a dialog from those that a script has to answer. @returns false if it is not, or no longer, one of them. */
function settle({ delegated }: Watch, dialog: Dialog): boolean {
  const delegation = delegated.get(dialog);
  if (!delegation) return false;
  clearTimeout(delegation.timer);
  drop(delegation.entry.closed, keyOf(dialog.type(), dialog.message()));
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
    noteShown(target, kind, message) {
      const dialog = { kind, message, key: keyOf(kind, message), wasListening: claim.isListening() };
      entry.open.set(target, dialog);
      if (!drop(entry.seenByService, dialog.key)) entry.seenByScript.push(dialog);
    },
    noteClosed(target, isAccepted, input) {
      const dialog = entry.open.get(target);
      entry.open.delete(target);
      if (!dialog) return;
      entry.closed.push(dialog.key);
      if (drop(entry.answered, dialog.key) || !dialog.wasListening) return;
      const { kind, message } = dialog;
      const typed = kind === "prompt" && isAccepted ? { input } : {};
      watch.onAnswered({ kind, message, isAccepted, by: "script", ...typed });
    },
    release() {
      claims.delete(entry);
      // The service answers the open dialogs when its own connection announces them, but already reports them now.
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

/** Keeps a dialog from being reported again when the service's own connection announces it later. */
function expectReported({ reported }: Watch, key: string): void {
  reported.push(key);
  setTimeout(() => drop(reported, key), LATE_MS_MAX).unref();
}

/**
 * Whether a dialog belongs to the claim: the script listened when its own connection announced the dialog. If that
 * connection has not announced the dialog yet, the script must be listening now.
 */
function belongsTo({ claim, seenByScript, seenByService }: ClaimEntry, dialog: Dialog): boolean {
  const key = keyOf(dialog.type(), dialog.message());
  const at = seenByScript.findIndex((each) => each.key === key);
  if (at >= 0) return seenByScript.splice(at, 1)[0]?.wasListening === true;
  seenByService.push(key);
  return claim.isListening();
}

const answerOf = (
  { kind, message }: Pick<AnsweredDialog, "kind" | "message">,
  by: "default" | "timeout",
): AnsweredDialog => ({ kind, message, isAccepted: kind === "beforeunload", by });

/** Removes one occurrence of `key`. @returns whether there was one. */
function drop(keys: string[], key: string): boolean {
  const index = keys.indexOf(key);
  if (index >= 0) keys.splice(index, 1);
  return index >= 0;
}

const keyOf = (kind: string, message: string) => `${kind} ${message}`;
