import type { Dialog, Page } from "playwright";
import { shorten } from "#lib/text/shorten.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import type { DialogKind, StageWidget, WidgetAnswer } from "./stage-state.ts";

/** A person's answer to a dialog; `default` for the answer that the service gives without a person. */
export type DialogAnswer = { isAccepted: boolean; text?: string } | "default";

/** The dialogs of a browser that wait for the person who has control. */
export type PeopleDialogs = {
  /**
   * Leaves a dialog to people if a person is there and the page has not opened too many dialogs.
   * @param settle answers the dialog. It is called once, unless the dialog ends by itself.
   * @returns whether the dialog was left to people.
   */
  offer: (dialog: Dialog, settle: (answer: DialogAnswer) => void) => boolean;
  /** Forgets a dialog that has ended. */
  forget: (dialog: Dialog) => void;
  /** The dialog that a person is to answer first. */
  first: () => DialogWidget | undefined;
  /** Answers a dialog. @returns whether it still waited. */
  answer: (id: string, answer: Extract<WidgetAnswer, { kind: "dialog" }>) => boolean;
  /** Gives all dialogs the default answer, unless a person is there. */
  recheck: () => void;
  /** Ends the muting of a page that shows another document. */
  noteDocument: (page: Page) => void;
};

type DialogWidget = Extract<StageWidget, { kind: "dialog" }>;
type Open = {
  widget: DialogWidget;
  page: Page;
  settle: (answer: DialogAnswer) => void;
  timer: NodeJS.Timeout;
};

/** The dialogs that a page's document has opened lately, and whether a person has turned off its further ones. */
type Asked = { times: number[]; isMuted: boolean };

/**
 * How long a person may take to answer. The page is blocked during this time. `beforeunload` has less, because the
 * navigation that it holds up has its own limit.
 */
export const PERSON_MS_MAX = { beforeunload: 20_000, other: 60_000 };
/** Dialogs of one page that people get within `FLOOD_MS`. Further ones are answered without a person. */
const FLOOD_MAX = 8;
const FLOOD_MS = 10_000;
/** From this dialog on, a person can turn off the page's further dialogs. */
const MUTE_FROM = 2;
/** Maximum length of the texts of a dialog. The page decides the length. */
const TEXT_CHARS_MAX = 1_000;

const KINDS = new Set<string>(["alert", "confirm", "prompt", "beforeunload"] satisfies DialogKind[]);
const isKnown = (kind: string): kind is DialogKind => KINDS.has(kind);

type Deps = {
  guard: ListenerGuard;
  /** Whether a person has control, and a page of the service shows the dialog. */
  isPersonThere: () => boolean;
  onChange: () => void;
  personMsMax?: typeof PERSON_MS_MAX | undefined;
};

/** @see PeopleDialogs */
export function createPeopleDialogs({
  guard,
  isPersonThere,
  onChange,
  personMsMax = PERSON_MS_MAX,
}: Deps): PeopleDialogs {
  const open = new Map<Dialog, Open>();
  const asked = new WeakMap<Page, Asked>();

  /** Notes a dialog of a page. @returns how many the page has opened lately; undefined if people must not get it. */
  function count(page: Page): number | undefined {
    const nowMs = performance.now();
    const before = asked.get(page) ?? { times: [], isMuted: false };
    const times = [...before.times.filter((at) => nowMs - at < FLOOD_MS), nowMs].slice(-FLOOD_MAX - 1);
    asked.set(page, { ...before, times });
    return before.isMuted || times.length > FLOOD_MAX ? undefined : times.length;
  }
  function settle(dialog: Dialog, answer: DialogAnswer): boolean {
    const entry = open.get(dialog);
    if (!entry) return false;
    clearTimeout(entry.timer);
    open.delete(dialog);
    entry.settle(answer);
    onChange();
    return true;
  }

  return {
    offer(dialog, onSettled) {
      const page = dialog.page();
      const kind = dialog.type();
      if (!page || !isKnown(kind) || !isPersonThere()) return false;
      const times = count(page);
      if (times === undefined) return false;
      const msMax = kind === "beforeunload" ? personMsMax.beforeunload : personMsMax.other;
      open.set(dialog, {
        page,
        settle: onSettled,
        timer: setTimeout(
          guard(() => settle(dialog, "default")),
          msMax,
        ),
        widget: {
          id: crypto.randomUUID(),
          kind: "dialog",
          dialog: kind,
          host: shorten(URL.parse(page.url())?.host ?? "", TEXT_CHARS_MAX),
          message: shorten(dialog.message(), TEXT_CHARS_MAX),
          defaultText: shorten(dialog.defaultValue(), TEXT_CHARS_MAX),
          mayMute: kind !== "beforeunload" && times >= MUTE_FROM,
        },
      });
      onChange();
      return true;
    },
    forget(dialog) {
      const entry = open.get(dialog);
      clearTimeout(entry?.timer);
      if (open.delete(dialog)) onChange();
    },
    first: () => [...open.values()][0]?.widget,
    answer(id, { isAccepted, text, isMuted = false }) {
      const found = [...open].find(([, { widget }]) => widget.id === id);
      if (!found) return false;
      const [dialog, { page, widget }] = found;
      if (isMuted && widget.mayMute) asked.set(page, { times: [], isMuted: true });
      const typed = widget.dialog === "prompt" && isAccepted ? { text: text ?? "" } : {};
      return settle(dialog, { isAccepted, ...typed });
    },
    recheck() {
      if (isPersonThere()) return;
      for (const dialog of [...open.keys()]) settle(dialog, "default");
    },
    noteDocument: (page) => void asked.delete(page),
  };
}
