import { setTimeout as pause } from "node:timers/promises";
import { createDeadline } from "#lib/time/deadline.ts";
import type { BrowserInput } from "../browser-service.ts";
import { createFrameSessions } from "../overlay/locate/frame-sessions.ts";
import type { LivePage } from "../page/live-page.ts";
import type { Devtools } from "../process/devtools-connection.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";
import { findControl, type LocatedControl } from "./find-control.ts";
import {
  type ActionOutcome,
  DONE,
  refuseAction,
  type StageWidget,
  WIDGET_GONE,
  type WidgetAnswer,
} from "./stage-state.ts";

/** The open list, picker or suggestions of the shown page, for the person who has control. */
type OpenControls = {
  /** Looks for an open control after an input of a person, and once more soon after. */
  noteInput: (input: BrowserInput) => void;
  current: () => ControlWidget | undefined;
  /** Chooses, and closes the control. */
  answer: (id: string, answer: ChoiceAnswer) => Promise<ActionOutcome>;
  /** Closes the control without a choice. @returns whether it still waited. */
  cancel: (id: string) => Promise<boolean>;
  /** Forgets the control, because no person has control any more, or another page or document is shown. */
  forget: () => void;
  end: () => void;
};

type ControlWidget = Extract<StageWidget, { kind: "select" | "picker" | "suggestions" }>;
type ChoiceAnswer = Extract<WidgetAnswer, { kind: "option" | "value" }>;
type Open = { id: string; page: LivePage; control: LocatedControl; key: string };

/** How long a page may take to answer. */
const FIND_MS_MAX = 10_000;
/**
 * How long after an input a script of the page may still open a picker for it, and how often an open control is looked
 * at again.
 */
const AGAIN_MS = 400;
const FAILURES_MAX = 5;
/** How long a control is asked to close, with growing pauses. */
const CLOSE_MS_MAX = 5_000;
const CLOSING_PAUSE_MS = 50;
const CLOSING_PAUSE_MS_MAX = 250;

type Deps = {
  guard: ListenerGuard;
  openDevtools: Devtools["open"];
  /** Returns the page that people see. */
  selected: () => LivePage | undefined;
  isPersonThere: () => boolean;
  onChange: () => void;
};

/** @see OpenControls */
export function createOpenControls(deps: Deps): OpenControls {
  const { guard, selected, isPersonThere, onChange } = deps;
  const frames = createFrameSessions(deps.openDevtools);
  let open: Open | undefined;
  let looking: Promise<void> | undefined;
  let mustLookAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let closings = 0;
  let failures = 0;

  function show(next: Open | undefined): void {
    const before = open?.id;
    open = next;
    if (before !== next?.id) onChange();
  }
  /** Returns null if the page is busy, or changes meanwhile. */
  const find = (page: LivePage): Promise<LocatedControl | undefined | null> =>
    createDeadline({ ms: FIND_MS_MAX, lateMessage: "the page does not answer" })
      .race(findControl(page.cdp.send.bind(page.cdp), page.shown().frameId, frames))
      .catch((): null => null);
  async function look(): Promise<void> {
    const page = selected();
    if (!page || !isPersonThere() || closings > 0) return show(undefined);
    const control = await find(page);
    if (control === null) {
      failures += 1;
      return;
    }
    failures = 0;
    if (!control || page !== selected() || !isPersonThere() || closings > 0) return show(undefined);
    const key = JSON.stringify(control.shown);
    // While the person reads the list, its numbers stay valid.
    const id = open?.page === page && open.key === key ? open.id : crypto.randomUUID();
    show({ id, page, control, key });
  }
  async function lookUntilCurrent(): Promise<void> {
    do {
      mustLookAgain = false;
      await look();
    } while (mustLookAgain);
    looking = undefined;
    // An open control may be closed, moved or filled by the page. A failed look is repeated a few times.
    if (open || (failures > 0 && failures < FAILURES_MAX)) lookLater();
  }
  function lookNow(): void {
    if (looking) mustLookAgain = true;
    else looking = lookUntilCurrent();
  }
  function lookLater(): void {
    stopTimer();
    const lookAgain = guard(() => {
      timer = undefined;
      lookNow();
    });
    timer = setTimeout(lookAgain, AGAIN_MS).unref();
  }
  function stopTimer(): void {
    clearTimeout(timer);
    timer = undefined;
  }
  /** Runs work that closes a control. Nothing is found while it runs, because the control may still be open. */
  async function closing<Result>(work: () => Promise<Result>): Promise<Result> {
    stopTimer();
    closings += 1;
    show(undefined);
    try {
      // A look in the page forgets the control that the work is about if the control has just closed.
      await looking;
      return await work();
    } finally {
      closings -= 1;
      lookNow();
    }
  }

  return {
    noteInput(input) {
      if (!isPersonThere() || (input.type === "mouse" && input.action === "move")) return;
      failures = 0;
      lookNow();
      lookLater();
    },
    current: () => open && ({ ...open.control.shown, id: open.id } satisfies ControlWidget),
    async answer(id, answer) {
      const found = open;
      if (found?.id !== id) return WIDGET_GONE;
      const isSelect = found.control.shown.kind === "select";
      if (isSelect !== (answer.kind === "option")) return refuseAction("the answer does not fit the control");
      return closing(async () => {
        try {
          const isSet =
            answer.kind === "option" ? choose(found, answer.chosen) : setValue(found, answer.value);
          return (await isSet) ? DONE : refuseAction("the control does not take this choice");
        } catch {
          return WIDGET_GONE;
        }
      });
    },
    async cancel(id) {
      const found = open;
      if (found?.id !== id) return false;
      // Fails if the page has navigated.
      await closing(() => closeNative(found).catch(() => {}));
      return true;
    },
    forget() {
      const page = selected();
      if (open) {
        const found = open;
        void closing(() => closeNative(found).catch(() => {}));
      } else if (page && (looking || timer) && !isPersonThere()) {
        // The last input of the person may have opened one that was not found yet.
        void closing(async () => {
          const control = await find(page);
          if (control) await closeNative({ page, control }).catch(() => {});
        });
      } else stopTimer();
    },
    end() {
      failures = FAILURES_MAX;
      stopTimer();
      frames.close();
    },
  };
}

/** The most keys that are pressed to reach an option. Options further down are chosen by a script. */
const STEPS_MAX = 200;

/**
 * Chooses an option. Chromium's own list is open and has the keyboard, so the keys choose as a person does, and the page
 * sees nothing of them but the trusted events of a choice.
 * @returns whether the option can be chosen.
 */
async function choose(found: Open, chosen: number): Promise<boolean> {
  const { control } = found;
  const steps = await control.countSteps(chosen);
  if (steps === -1) {
    await closeNative(found);
    return false;
  }
  if (steps <= STEPS_MAX && (await control.isWaiting())) {
    await press(found, "Home", 36);
    for (let step = 0; step < steps; step += 1) await press(found, "ArrowDown", 40);
    await press(found, "Enter", 13, "\r");
    if (!(await control.isWaiting())) return true;
  }
  await closeNative(found);
  return control.choose(chosen);
}

async function setValue(found: Open, value: string): Promise<boolean> {
  await closeNative(found);
  return found.control.setValue(value);
}

/**
 * Closes Chromium's own list or picker, which has the keyboard while it is open. The page does not see the key. A picker
 * that has just opened ignores keys until its own document is loaded.
 */
async function closeNative(found: Pick<Open, "page" | "control">): Promise<void> {
  const deadline = createDeadline({ ms: CLOSE_MS_MAX });
  for (let attempt = 0; deadline.remainingMs() > 0 && (await found.control.isWaiting()); attempt += 1) {
    if (attempt > 0) await pause(Math.min(attempt * CLOSING_PAUSE_MS, CLOSING_PAUSE_MS_MAX));
    await press(found, "Escape", 27);
  }
}

/** Presses a key in the open list or picker. The key is not released: its release would reach the page after the list. */
async function press(
  { page: { cdp } }: Pick<Open, "page">,
  key: string,
  code: number,
  text?: string,
): Promise<void> {
  await cdp.send("Input.dispatchKeyEvent", {
    type: text === undefined ? "rawKeyDown" : "keyDown",
    key,
    code: key,
    windowsVirtualKeyCode: code,
    ...(text !== undefined && { text }),
  });
}
