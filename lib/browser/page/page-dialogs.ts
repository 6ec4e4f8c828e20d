import type { BrowserContext, Dialog } from "playwright";

/** A dialog that the service answered; `isLate` when a script listened for it and did not answer in time. */
export type AnsweredDialog = { kind: string; message: string; isAccepted: boolean; isLate: boolean };

/** A running script, as far as dialogs are concerned. */
type DialogClaim = {
  /** Whether the script listens for dialogs at this moment. */
  isListening: () => boolean;
  onAnswered: (dialog: AnsweredDialog) => void;
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
  /** Reports that the script's own connection has shown it the end of the dialog of a page. */
  noteClosed: (target: string) => void;
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
};

/** How long a script's listener may take to answer; the page is blocked meanwhile. */
const ANSWER_TIMEOUT_MS = 10_000;

type Watch = {
  claims: Set<ClaimEntry>;
  /** Dialogs left to a script; `takeBack` answers one instead of the script. */
  left: Map<Dialog, { entry: ClaimEntry; takeBack: () => void; timer: NodeJS.Timeout }>;
  onAnswered: (dialog: AnsweredDialog) => void;
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
  const watch: Watch = { claims: new Set(), left: new Map(), onAnswered, answerTimeoutMs };
  context.on("dialog", (dialog) => {
    const entries = [...watch.claims];
    const entry = entries.find((each) => belongsTo(each, dialog));
    if (entry) leaveTo(watch, entry, dialog);
    else answer(watch, dialog, false, entries);
  });
  context.on("dialogclosed", (dialog) => settle(watch, dialog));
  context.on("page", (page) => {
    page.on("close", () => {
      for (const dialog of [...watch.left.keys()]) if (dialog.page() === page) settle(watch, dialog);
    });
  });
  return { claim: (claim) => addClaim(watch, claim) };
}

/** Answers a dialog and reports that to the given claims. */
function answer({ onAnswered }: Watch, dialog: Dialog, isLate: boolean, entries: ClaimEntry[]): void {
  const answered = answerOf({ kind: dialog.type(), message: dialog.message() }, isLate);
  // Reported before the page continues, so that a script that ends next has it in its result.
  for (const { claim } of entries) claim.onAnswered(answered);
  onAnswered(answered);
  // The page may have been closed together with its dialog.
  void (answered.isAccepted ? dialog.accept() : dialog.dismiss()).catch(() => {});
}

function leaveTo(watch: Watch, entry: ClaimEntry, dialog: Dialog): void {
  const takeBack = () => {
    const isClosed = entry.closed.includes(keyOf(dialog.type(), dialog.message()));
    if (settle(watch, dialog) && !isClosed) answer(watch, dialog, true, [entry]);
  };
  watch.left.set(dialog, { entry, takeBack, timer: setTimeout(takeBack, watch.answerTimeoutMs) });
}

/** @returns whether the dialog was left to a script and, as far as the service's connection knows, is still open. */
function settle({ left }: Watch, dialog: Dialog): boolean {
  const held = left.get(dialog);
  if (!held) return false;
  clearTimeout(held.timer);
  const index = held.entry.closed.indexOf(keyOf(dialog.type(), dialog.message()));
  if (index >= 0) held.entry.closed.splice(index, 1);
  return left.delete(dialog);
}

function addClaim({ claims, left }: Watch, claim: DialogClaim): HeldClaim {
  const entry: ClaimEntry = { claim, shown: [], met: [], open: new Map(), closed: [] };
  claims.add(entry);
  return {
    noteShown(target, kind, message) {
      const dialog = { kind, message, key: keyOf(kind, message), wasListening: claim.isListening() };
      entry.open.set(target, dialog);
      const index = entry.met.indexOf(dialog.key);
      if (index >= 0) entry.met.splice(index, 1);
      else entry.shown.push(dialog);
    },
    noteClosed(target) {
      const dialog = entry.open.get(target);
      entry.open.delete(target);
      if (dialog) entry.closed.push(dialog.key);
    },
    release() {
      claims.delete(entry);
      // Dialogs that only the script's connection has shown: the service answers them when its own connection does.
      for (const dialog of entry.open.values())
        if (entry.shown.includes(dialog)) claim.onAnswered(answerOf(dialog, dialog.wasListening));
      for (const held of [...left.values()]) if (held.entry === entry) held.takeBack();
    },
  };
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
  isLate: boolean,
): AnsweredDialog => ({ kind, message, isAccepted: kind === "beforeunload", isLate });

const keyOf = (kind: string, message: string) => `${kind} ${message}`;
