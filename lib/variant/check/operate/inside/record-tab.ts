import type { PageElement } from "#lib/dom/make-dom.ts";
import type { PageWatch } from "../../inside/page-watch.ts";

/** What the Tab key did: whether the focus moved to another element, and whether a script cancelled the key. */
type TabEffect = { isMoved: boolean; isPrevented: boolean };

/** The state before the Tab key was pressed, in the check's world. */
type TabRecord = { focused: PageElement | undefined; event?: Event };
type TabWorld = { agentSessionTab?: TabRecord };

/** Records the next press of the Tab key. The source of this function is sent to the page and runs there. */
export function recordTab({ newKit }: PageWatch): void {
  const record: TabRecord = { focused: newKit().queryAll(":focus").at(-1) };
  (globalThis as TabWorld).agentSessionTab = record;
  const onKey = (event: Event) => {
    record.event = event;
  };
  window.addEventListener("keydown", onKey, { capture: true, once: true, passive: true });
}

/** Reads what the recorded press did. The source of this function is sent to the page and runs there. */
export function readTab({ newKit }: PageWatch): TabEffect {
  const record = (globalThis as TabWorld).agentSessionTab;
  const focused = newKit().queryAll(":focus").at(-1);
  return {
    isMoved: focused !== undefined && focused !== record?.focused,
    isPrevented: record?.event?.defaultPrevented === true,
  };
}
