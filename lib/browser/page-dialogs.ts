import type { BrowserContext, Dialog } from "playwright";

/** A dialog that the service answered; `isLate` when a script listened for it and did not answer in time. */
export type AnsweredDialog = { kind: string; message: string; isAccepted: boolean; isLate: boolean };

/** The part that a running script has in the dialogs of its pages. */
export type DialogClaim = {
  /** Whether the script listens for dialogs at this moment. */
  isListening: () => boolean;
  onAnswered: (dialog: AnsweredDialog) => void;
};

/** The dialogs (alert, confirm, prompt, beforeunload) of all pages of one browser context. */
export type PageDialogs = {
  /** Leaves dialogs to a script while it listens for them. @returns the release, which answers those still open. */
  claim: (claim: DialogClaim) => () => void;
};

/** How long a script's listener may take to answer; the page stands still meanwhile. */
const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Watches the dialogs of a context. It is the one place that answers them, so that two answers never race. A dialog that opens while a script listens
 * is the script's until the timeout or the end of its claim. Every other dialog is answered at once: `beforeunload` is
 * accepted, so that the page can be left, the rest is dismissed.
 */
export function watchDialogs(
  context: BrowserContext,
  onAnswered: (dialog: AnsweredDialog) => void,
  answerTimeoutMs = ANSWER_TIMEOUT_MS,
): PageDialogs {
  const claims = new Set<DialogClaim>();
  /** Dialogs left to a script, each with the way to take it back. */
  const left = new Map<Dialog, { claim: DialogClaim; takeBack: () => void; timer: NodeJS.Timeout }>();

  function answer(dialog: Dialog, isLate: boolean, tell: Iterable<DialogClaim>): void {
    const isAccepted = dialog.type() === "beforeunload";
    const answered = { kind: dialog.type(), message: dialog.message(), isAccepted, isLate };
    // Recorded before the page goes on, so that a script that ends next has it in its result.
    for (const { onAnswered } of tell) onAnswered(answered);
    onAnswered(answered);
    // The page may have closed it together with itself.
    void (isAccepted ? dialog.accept() : dialog.dismiss()).catch(() => {});
  }

  function leaveTo(claim: DialogClaim, dialog: Dialog): void {
    const takeBack = () => {
      if (settle(dialog)) answer(dialog, true, [claim]);
    };
    left.set(dialog, { claim, takeBack, timer: setTimeout(takeBack, answerTimeoutMs) });
  }
  /** @returns whether the dialog was still open and a script's. */
  function settle(dialog: Dialog): boolean {
    clearTimeout(left.get(dialog)?.timer);
    return left.delete(dialog);
  }

  context.on("dialog", (dialog) => {
    const claim = [...claims].find(({ isListening }) => isListening());
    if (claim) leaveTo(claim, dialog);
    else answer(dialog, false, claims);
  });
  context.on("dialogclosed", settle);
  context.on("page", (page) => {
    page.on("close", () => {
      for (const dialog of [...left.keys()]) if (dialog.page() === page) settle(dialog);
    });
  });

  return {
    claim(claim) {
      claims.add(claim);
      return () => {
        claims.delete(claim);
        for (const entry of [...left.values()]) if (entry.claim === claim) entry.takeBack();
      };
    },
  };
}
