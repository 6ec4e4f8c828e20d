import type { OverlayPart, PlacedPart } from "#lib/injected/overlay/overlay-state.ts";
import type { BrowserInput } from "../browser-service.ts";
import { type CommentText, editByKey, insertText } from "./comment-text.ts";
import type { OverlayModel } from "./overlay-model.ts";

type Key = Extract<BrowserInput, { type: "key" }>;
type Mouse = Extract<BrowserInput, { type: "mouse" }>;
type Touch = Extract<BrowserInput, { type: "touch" }>;
type Point = { x: number; y: number };

/** What the input of a person can cause in the overlay, besides changes of the model. */
type InputActions = {
  /** Redraws the overlay after a change of the model. */
  redraw: () => void;
  /** Shows which element is at a point. */
  hover: (x: number, y: number) => void;
  /** Opens the comment box for the element at a point. */
  pick: (x: number, y: number) => Promise<void>;
  submit: () => void;
  scrollList: (deltaY: number) => Promise<void>;
  /** Returns the position in the open comment that is closest to a point. */
  positionAt: (x: number, y: number) => Promise<number>;
};

/** The state that the decisions about input depend on. */
type InputView = {
  model: OverlayModel;
  /** The overlay's parts where they were drawn; empty if the overlay is not in the page. */
  parts: () => readonly PlacedPart[];
  /** The drawing of the parts that is in progress. Never rejects. */
  drawing: () => Promise<void> | undefined;
  /** Whether people see the overlay. While it is removed for a script, the pointer is the page's. */
  isUsable: () => boolean;
};

/** Gives each input of a person either to the overlay or to the page. */
export type OverlayInput = {
  /** Returns the overlay's part that people see at a point. */
  partAt: (x: number, y: number) => PlacedPart | undefined;
  /** Passes an input to the overlay, or to the page with `pass`. Keeps the order of all input. */
  push: (input: BrowserInput, pass: (input: BrowserInput) => Promise<void>) => Promise<void>;
};

const ALT = 1;
const CONTROL = 2;
const META = 4;
const SHIFT = 8;
/** How many inputs may wait while the page finds an element or draws. Further ones are dropped. */
const WAITING_MAX = 500;

/** @see OverlayInput */
export function createOverlayInput(view: InputView, actions: InputActions): OverlayInput {
  const { model } = view;
  /** Keys that were pressed in the overlay. The page does not see their release, as it has not seen their press. */
  const heldKeys = new Set<string>();
  /** Where the pressed mouse button went down. Undefined while none is pressed. */
  let pressed: "page" | { part: OverlayPart | "page element" | undefined; index: number } | undefined;
  /** Where the finger is that touches the overlay. Undefined while none does. */
  let touched: Point | undefined;
  /** Input that arrived while the overlay was handling an earlier one. */
  const backlog: (() => void)[] = [];
  let isBusy = false;

  function partAt(x: number, y: number): PlacedPart | undefined {
    if (!view.isUsable()) return undefined;
    return view
      .parts()
      .findLast((each) => x >= each.x && y >= each.y && x < each.x + each.width && y < each.y + each.height);
  }

  /** Handles an input of the overlay. Returns false if the input is the page's. */
  function route(input: BrowserInput): boolean | Promise<unknown> {
    switch (input.type) {
      case "key":
        return input.action === "down" ? pressKey(input) : heldKeys.delete(input.code || input.key);
      case "text":
      case "paste":
        return model.mode() === "writing" && edit((comment) => insertText(comment, input.text));
      case "compose":
        // The comment gets the text when it is composed.
        return model.mode() === "writing";
      case "touch":
        return touch(input);
      case "wheel": {
        const part = partAt(input.x, input.y)?.part;
        if (part === "list" || part === "remove") return actions.scrollList(input.deltaY);
        return part !== undefined;
      }
      case "mouse":
        return input.action === "move"
          ? move(input)
          : input.action === "down"
            ? press(input)
            : release(input);
    }
  }

  function edit(change: (comment: CommentText) => CommentText): true {
    model.edit(change);
    actions.redraw();
    return true;
  }
  function pressKey(input: Key): boolean {
    const mode = model.mode();
    if (mode === "idle" || (mode === "picking" && (input.key !== "Escape" || !view.isUsable()))) return false;
    if (heldKeys.size < WAITING_MAX) heldKeys.add(input.code || input.key);
    if (input.key === "Escape") model.escape();
    else if (input.key === "Enter" && (input.modifiers & SHIFT) === 0) model.add();
    else model.edit((comment) => typeKey(comment, input));
    actions.redraw();
    return true;
  }
  function move({ x, y }: Mouse): boolean {
    if (pressed === "page") return false;
    const part = partAt(x, y);
    if (part === undefined && model.mode() === "picking" && view.isUsable()) actions.hover(x, y);
    return pressed !== undefined || part !== undefined || isCapturing();
  }
  function press({ x, y }: Point): boolean {
    const part = partAt(x, y);
    if (part === undefined && !isCapturing()) {
      pressed = "page";
      return false;
    }
    pressed = { part: part?.part ?? "page element", index: part?.index ?? 0 };
    return true;
  }
  function release({ x, y, button }: Point & Pick<Mouse, "button">): boolean | Promise<unknown> {
    const from = pressed;
    pressed = undefined;
    if (from === undefined || from === "page") return false;
    const part = partAt(x, y);
    const isSame = (part?.part ?? "page element") === from.part && (part?.index ?? 0) === from.index;
    if (button !== "left" || !isSame || !view.isUsable()) return true;
    if (part) return act(part, x, y);
    return model.mode() === "picking" ? actions.pick(x, y) : true;
  }
  /** Handles a tap as a click. Fingers that began to touch the page stay with the page. */
  function touch({ action, points }: Touch): boolean | Promise<unknown> {
    const [point] = points;
    if (action === "start" && points.length === 1 && point && !touched) {
      if (press(point)) touched = point;
      else pressed = undefined;
    }
    if (!touched) return false;
    if (point) touched = point;
    if (points.length > 0) return true;
    const at = touched;
    touched = undefined;
    if (action === "end") return release({ ...at, button: "left" });
    pressed = undefined;
    return true;
  }
  /** Whether the overlay takes all pointer input, so that it cannot close the page's menus and dialogs. */
  const isCapturing = () => view.isUsable() && model.mode() !== "idle";

  function act({ part, index }: PlacedPart, x: number, y: number): boolean | Promise<unknown> {
    if (part === "pill") model.togglePicking();
    else if (part === "submit") actions.submit();
    else if (part === "remove") model.remove(index);
    else if (part === "add") model.add();
    else if (part === "cancel") model.escape();
    else if (part === "comment")
      return actions.positionAt(x, y).then((caret) => edit(({ text }) => ({ text, anchor: caret, caret })));
    actions.redraw();
    return true;
  }

  /** Begins to handle an input. A press waits until the parts are where the person will see them. */
  function start(input: BrowserInput, pass: (input: BrowserInput) => Promise<void>): Promise<void> {
    const isPress =
      (input.type === "mouse" && input.action === "down") ||
      (input.type === "touch" && input.action === "start");
    const drawing = isPress ? view.drawing() : undefined;
    if (!drawing) return handle(input, pass);
    isBusy = true;
    return drawing.then(() => {
      const handled = handle(input, pass);
      drain();
      return handled;
    });
  }
  function handle(input: BrowserInput, pass: (input: BrowserInput) => Promise<void>): Promise<void> {
    const taken = route(input);
    if (taken === false) return pass(input);
    if (taken === true) return Promise.resolve();
    isBusy = true;
    return taken.then(drain, drain);
  }
  function drain(): void {
    isBusy = false;
    while (!isBusy) {
      const next = backlog.shift();
      if (!next) return;
      next();
    }
  }

  return {
    partAt,
    push(input, pass) {
      if (!isBusy) return start(input, pass);
      if (backlog.length >= WAITING_MAX) return Promise.resolve();
      return new Promise((resolve) => backlog.push(() => resolve(start(input, pass))));
    },
  };
}

/** Types or edits in a comment as a text field does. */
function typeKey(comment: CommentText, { key, modifiers, text }: Key): CommentText {
  const isAltGr = (modifiers & CONTROL) !== 0 && (modifiers & ALT) !== 0;
  const isCommand = !isAltGr && (modifiers & (CONTROL | META)) !== 0;
  if (isCommand && key.toLowerCase() === "a")
    return { text: comment.text, anchor: 0, caret: comment.text.length };
  const isFar = (modifiers & (CONTROL | META | ALT)) !== 0;
  const edited = editByKey(comment, key, { isFar, isSelecting: (modifiers & SHIFT) !== 0 });
  if (edited) return edited;
  if (isCommand) return comment;
  const typed = key === "Enter" ? "\n" : (text ?? ([...key].length === 1 ? key : ""));
  return insertText(comment, typed);
}
