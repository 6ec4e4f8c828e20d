import type { PageElement } from "#lib/dom/make-dom.ts";
import type { PageWatch } from "../page-watch.ts";

/** What the Tab key did: whether the focus moved to another element, and whether a script cancelled the key. */
type TabEffect = { isMoved: boolean; isPrevented: boolean };

/** The state before the Tab key was pressed. */
let record: { focused: PageElement | undefined; event?: Event } | undefined;

/** Records the next press of the Tab key. */
export function recordTab({ newKit }: PageWatch): void {
  const begun: NonNullable<typeof record> = { focused: newKit().queryAll(":focus").at(-1) };
  record = begun;
  const onKey = (event: Event) => {
    begun.event = event;
  };
  window.addEventListener("keydown", onKey, { capture: true, once: true, passive: true });
}

/** Reads what the recorded press did. */
export function readTab({ newKit }: PageWatch): TabEffect {
  const focused = newKit().queryAll(":focus").at(-1);
  return {
    isMoved: focused !== undefined && focused !== record?.focused,
    isPrevented: record?.event?.defaultPrevented === true,
  };
}
