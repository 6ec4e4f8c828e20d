import type { BrowserContext, Dialog } from "playwright";

/** A dialog that was answered, and by whom: the default, after the time that a script's listener had, or the script. */
export type AnsweredDialog = {
  kind: string;
  message: string;
  isAccepted: boolean;
  by: "default" | "timeout" | "script";
  /** What a script typed into a prompt. */
  input?: string;
};

/** A running script, as far as dialogs are concerned. */
type DialogClaim = {
  /** Whether the script listens for dialogs at this moment. */
  isListening: () => boolean;
};

/** A claim in force. */
type HeldClaim = {
  /**
   * Reports that the script's own connection has shown it a dialog. The script may answer it and stop listening before
   * the service's connection delivers the same dialog: what counts is whether the script listened when it saw the dialog.
   *
   * @param target the page, as the script's connection names it.
   */
  noteShown: (target: string, kind: string, message: string) => void;
  /** Reports that the script's own connection has shown it the end of the dialog of a page, and how it was answered. */
  noteClosed: (target: string, isAccepted: boolean, input: string) => void;
  /** Answers the script's dialogs that are still open. */
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
  /** Dialogs that only the script's connection has shown so far. */
  shown: ShownDialog[];
  /** Dialogs that only the service's connection has shown so far. */
  met: string[];
  /** The dialog that each page shows the script. */
  open: Map<string, ShownDialog>;
  /** Dialogs whose end only the script's connection has shown so far. */
  closed: string[];
  /** Dialogs that the service has answered, and whose end the script's connection has not shown yet. */
  answered: string[];
};

/** How long a script's listener may take to answer; the page is blocked meanwhile. */
const ANSWER_TIMEOUT_MS = 10_000;

/** How long after a script's connection the service's own may show the same dialog. */
const LATE_MS_MAX = 5_000;

type Watch = {
  claims: Set<ClaimEntry>;
  /** Dialogs left to a script; `takeBack` answers one instead of the script. */
  left: Map<Dialog, { entry: ClaimEntry; takeBack: () => void; timer: NodeJS.Timeout }>;
  onAnswered: (dialog: AnsweredDialog) => void;
  /** Dialogs that were reported before the service's own connection showed them. */
  reported: string[];
  answerTimeoutMs: number;
};

/**
 * Watches the dialogs of a context. Dialogs are answered here only, so that two answers never race. A dialog that opens
 * while a script listens belongs to the script until the timeout or the end of its claim. Every other dialog is answered
 * at once: `beforeunload` is accepted, so that the page can be left, the rest is dismissed.
 */
export function watchDialogs(
  context: BrowserContext,
  onAnswered: (dialog: AnsweredDialog) => void,
  answerTimeoutMs = ANSWER_TIMEOUT_MS,
): PageDialogs {
  const watch: Watch = { claims: new Set(), left: new Map(), onAnswered, reported: [], answerTimeoutMs };
  context.on("dialog", (dialog) => {
    const entry = [...watch.claims].find((each) => belongsTo(each, dialog));
    if (entry) leaveTo(watch, entry, dialog);
    else answer(watch, dialog, "default");
  });
  context.on("dialogclosed", (dialog) => settle(watch, dialog));
  context.on("page", (page) => {
    page.on("close", () => {
      for (const dialog of [...watch.left.keys()]) if (dialog.page() === page) settle(watch, dialog);
    });
  });
  return { claim: (claim) => addClaim(watch, claim) };
}

function answer(watch: Watch, dialog: Dialog, by: "default" | "timeout"): void {
  const answered = answerOf({ kind: dialog.type(), message: dialog.message() }, by);
  const key = keyOf(dialog.type(), dialog.message());
  for (const { answered: keys } of watch.claims) keys.push(key);
  // Reported before the page continues, so that a script that ends next has it in its report.
  if (!drop(watch.reported, key)) watch.onAnswered(answered);
  // The page may have been closed together with its dialog.
  void (answered.isAccepted ? dialog.accept() : dialog.dismiss()).catch(() => {});
}

function leaveTo(watch: Watch, entry: ClaimEntry, dialog: Dialog): void {
  const takeBack = () => {
    const isClosed = entry.closed.includes(keyOf(dialog.type(), dialog.message()));
    if (settle(watch, dialog) && !isClosed) answer(watch, dialog, "timeout");
  };
  watch.left.set(dialog, { entry, takeBack, timer: setTimeout(takeBack, watch.answerTimeoutMs) });
}

/** @returns whether the dialog was left to a script and, as far as the service's connection knows, is still open. */
function settle({ left }: Watch, dialog: Dialog): boolean {
  const held = left.get(dialog);
  if (!held) return false;
  clearTimeout(held.timer);
  drop(held.entry.closed, keyOf(dialog.type(), dialog.message()));
  return left.delete(dialog);
}

function addClaim(watch: Watch, claim: DialogClaim): HeldClaim {
  const { claims, left } = watch;
  const entry: ClaimEntry = { claim, shown: [], met: [], open: new Map(), closed: [], answered: [] };
  claims.add(entry);
  return {
    noteShown(target, kind, message) {
      const dialog = { kind, message, key: keyOf(kind, message), wasListening: claim.isListening() };
      entry.open.set(target, dialog);
      if (!drop(entry.met, dialog.key)) entry.shown.push(dialog);
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
      // Dialogs that only the script's connection has shown: the service answers them when its own connection does.
      const open = new Set(entry.open.values());
      for (const dialog of entry.shown) {
        if (!open.has(dialog) && !dialog.wasListening) continue;
        expectReported(watch, dialog.key);
        if (open.has(dialog)) watch.onAnswered(answerOf(dialog, dialog.wasListening ? "timeout" : "default"));
      }
      for (const held of [...left.values()]) if (held.entry === entry) held.takeBack();
    },
  };
}

/** The service's own connection shows a dialog late that was reported already. */
function expectReported({ reported }: Watch, key: string): void {
  reported.push(key);
  setTimeout(() => drop(reported, key), LATE_MS_MAX).unref();
}

/** Whether the script of a claim listened when it saw this dialog, or listens now if it has not seen it yet. */
function belongsTo({ claim, shown, met }: ClaimEntry, dialog: Dialog): boolean {
  const key = keyOf(dialog.type(), dialog.message());
  const at = shown.findIndex((each) => each.key === key);
  if (at >= 0) return shown.splice(at, 1)[0]?.wasListening === true;
  met.push(key);
  return claim.isListening();
}

const answerOf = (
  { kind, message }: Pick<AnsweredDialog, "kind" | "message">,
  by: "default" | "timeout",
): AnsweredDialog => ({ kind, message, isAccepted: kind === "beforeunload", by });

/** Removes one occurrence. @returns whether there was one. */
function drop(keys: string[], key: string): boolean {
  const index = keys.indexOf(key);
  if (index >= 0) keys.splice(index, 1);
  return index >= 0;
}

const keyOf = (kind: string, message: string) => `${kind} ${message}`;
