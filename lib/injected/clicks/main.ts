/** The recorder of clicks, which runs in an isolated world of the page's document. */
import { createPageKit } from "../page-kit/page-kit.ts";

const CONTROLS = "a, button, summary, label, [role=button], [role=tab], [role=menuitem], [aria-expanded]";

/**
 * Reports each trusted click of the document: calls the binding with the address of the page and a selector of the
 * clicked control, as JSON. Leaves out addresses and selectors of more than `textMax` characters.
 */
export function reportClicks(binding: string, textMax: number): void {
  const counter = { prefix: "", next: 1 };
  const onClick = (event: Event) => {
    const kit = createPageKit(counter);
    const { dom } = kit;
    // The cast is safe: the page's own nodes are read only through `dom`.
    const clicked = event.composedPath()[0] as Parameters<typeof dom.isElement>[0];
    if (!event.isTrusted || !dom.isElement(clicked) || kit.isOverlay(clicked)) return;
    const selector = kit.selectorOf(dom.closest(clicked, CONTROLS) ?? clicked);
    const url = location.href;
    if (selector === null || selector.length > textMax || url.length > textMax) return;
    // The cast is safe: the service has added the binding to this world.
    (globalThis as unknown as Record<string, (text: string) => void>)[binding]?.(
      JSON.stringify({ url, selector }),
    );
  };
  // A click is recorded before the page reacts to it, because the page may remove what was clicked.
  window.addEventListener("click", onClick, { capture: true, passive: true });
}
