import type { CDPSession } from "playwright";
import type { OverlayPart } from "#lib/injected/overlay/overlay-state.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { Devtools } from "../process/devtools-connection.ts";
import { createFrameSessions } from "./locate/frame-sessions.ts";
import { type LocatedElement, locateElement } from "./locate/locate-element.ts";
import type { OverlayGate } from "./overlay-gate.ts";
import { createOverlayInPage } from "./overlay-in-page.ts";
import { createOverlayInput, type OverlayInput } from "./overlay-input.ts";
import { createOverlayModel } from "./overlay-model.ts";

/** Whether a submission was stored. If not, the overlay shows `reason`, a sentence without its full stop. */
export type AnnotationVerdict = { isStored: true } | { isStored: false; reason: string };

/**
 * Stores a submission of the overlay. `body` is a request body for the annotation webhook, as JSON text that was not
 * validated.
 */
export type SubmitAnnotation = (body: string) => Promise<AnnotationVerdict>;

/** The overlay of one document: connects its state, its input and its picture in the page. */
export type OverlayController = {
  contextId: number;
  draw: () => Promise<void>;
  hide: () => Promise<void>;
  /** Puts the overlay above what the page has put into its top layer. */
  raise: () => Promise<void>;
  /** The cursor that people see at a point of the overlay; undefined if the page is there. */
  cursorAt: (x: number, y: number) => string | undefined;
  input: OverlayInput["push"];
  /** Whether a comment is being written. */
  isWriting: () => boolean;
  end: () => void;
};

type ControllerOptions = {
  contextId: number;
  gate: Pick<OverlayGate, "isShown" | "isHiddenByScript">;
  openDevtools: Devtools["open"];
  onAnnotation: SubmitAnnotation;
};

/** How long a page may take to find an element. */
const LOCATE_MS_MAX = 5_000;
/** How often the outline follows the element of an open comment, which moves with scrolling, also that of its frames. */
const FOLLOW_MS = 200;

/** @see OverlayController */
export function createOverlayController(cdp: CDPSession, options: ControllerOptions): OverlayController {
  const { contextId, gate } = options;
  const model = createOverlayModel();
  const inPage = createOverlayInPage(cdp, contextId, model, gate.isShown);
  const frames = createFrameSessions(options.openDevtools);
  let isEnded = false;
  /** The point under the pointer whose element is shown next. */
  let hovered: { x: number; y: number } | undefined;
  let isHovering = false;

  function redraw(): void {
    if (model.mode() === "idle") frames.close();
    void inPage.draw();
  }
  const locate = (x: number, y: number) =>
    createDeadline({ ms: LOCATE_MS_MAX, lateMessage: "the page does not answer" }).race(
      locateElement(cdp.send.bind(cdp), frames, { x, y }),
    );
  async function hover(x: number, y: number): Promise<void> {
    hovered = { x, y };
    if (isHovering) return;
    isHovering = true;
    while (hovered && model.mode() === "picking") {
      const point = hovered;
      hovered = undefined;
      const found = await locate(point.x, point.y).catch(() => undefined);
      model.hover(found ? { ...found.at, label: found.description.element } : null);
      redraw();
    }
    isHovering = false;
  }
  async function pick(x: number, y: number): Promise<void> {
    try {
      const found = await locate(x, y);
      if (!found || isEnded || model.mode() !== "picking") return;
      model.pick(found);
      followElement(found);
    } catch {
      model.setStatus("The element could not be read. Please try again.");
    }
    redraw();
  }
  function followElement(found: LocatedElement): void {
    let shown = JSON.stringify(found.at);
    const step = async () => {
      if (isEnded || !model.isAbout(found)) return;
      const at = await found.follow();
      if (JSON.stringify(at) !== shown && model.isAbout(found)) {
        shown = JSON.stringify(at);
        model.follow(at);
        redraw();
      }
      setTimeout(step, FOLLOW_MS).unref();
    };
    setTimeout(step, FOLLOW_MS).unref();
  }
  async function submit(): Promise<void> {
    const body = model.beginSubmit();
    if (body === undefined) return;
    const verdict = await options
      .onAnnotation(body)
      .catch((): AnnotationVerdict => ({ isStored: false, reason: "something went wrong on our side" }));
    model.endSubmit(verdict.isStored ? undefined : verdict.reason);
    redraw();
  }

  const isUsable = () => !gate.isHiddenByScript();
  const input = createOverlayInput(
    { model, parts: inPage.parts, drawing: inPage.drawing, isUsable },
    {
      redraw,
      hover: (x, y) => void hover(x, y),
      pick,
      submit: () => void submit(),
      scrollList: inPage.scrollList,
      positionAt: inPage.positionAt,
    },
  );
  return {
    contextId,
    draw: inPage.draw,
    hide: inPage.hide,
    async raise() {
      await inPage.raise();
      await inPage.draw();
    },
    cursorAt(x, y) {
      if (!inPage.isDrawn()) return undefined;
      const part = input.partAt(x, y)?.part;
      if (part !== undefined) return CURSORS[part];
      return { idle: undefined, picking: "crosshair", writing: "default" }[model.mode()];
    },
    input: input.push,
    isWriting: () => model.mode() === "writing",
    end() {
      isEnded = true;
      frames.close();
    },
  };
}

const CURSORS: Record<OverlayPart, string> = {
  pill: "pointer",
  list: "default",
  submit: "pointer",
  remove: "pointer",
  card: "default",
  comment: "text",
  add: "pointer",
  cancel: "pointer",
};
