import type { Box, OverlayState } from "#lib/injected/overlay/overlay-state.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { type CommentText, EMPTY_COMMENT } from "./comment-text.ts";

/** What an annotation says about its element. Source: `wire.md`, Annotations. */
export type ElementDescription = {
  selector: string;
  /** The element's path in a closed shadow root of the element that `selector` finds. */
  shadowSelector?: string;
  /** Selectors of the frames in which the element is, from the outermost, with ` → ` between them. */
  frame?: string;
  /** Address of the innermost frame. */
  frameUrl?: string;
  element: string;
  /** The ARIA role and the accessible name, if the element has them. */
  role?: string;
  name?: string;
  text: string;
  /** In CSS pixels of the page, also for an element in a frame. */
  boundingBox: Box;
};

/** An element that a person has picked: its description, its box in the viewport, and the page that shows it. */
export type PickedElement = {
  description: ElementDescription;
  at: Box;
  page: { title: string; url: string };
};

type Annotation = { type: "element"; comment: string } & ElementDescription;

/** How many comments one submission can have. */
const COMMENTS_MAX = 50;

/** What an open comment box is about, and its text. */
type Editor = { picked: PickedElement; comment: CommentText };

/** The state of a page's overlay: what the person does, and the comments that are not submitted. */
export type OverlayModel = {
  mode: () => "idle" | "picking" | "writing";
  /** Starts or stops the picking of an element. If a comment box is open, discards it and starts picking again. */
  togglePicking: () => void;
  /** Shows an outline around the element under the pointer, or none. Ignored unless an element is being picked. */
  hover: (outline: OverlayState["outline"]) => void;
  /** Opens the comment box for an element. */
  pick: (picked: PickedElement) => void;
  /** Whether the open comment is about this element. */
  isAbout: (picked: PickedElement) => boolean;
  /** Moves the outline to where the commented element is now; undefined if it is no longer shown. */
  follow: (at: Box | undefined) => void;
  edit: (change: (comment: CommentText) => CommentText) => void;
  /** Adds the comment in the open box to the list, closes the box and stops picking. Ignores an empty comment. */
  add: () => void;
  /** Closes the comment box, or stops picking if none is open. */
  escape: () => void;
  remove: (index: number) => void;
  /** Begins to submit the comments. Returns the webhook's body as JSON text; undefined if there is none to submit. */
  beginSubmit: () => string | undefined;
  /** Ends the submission. `refusal` is the reason why it was not stored; undefined if it was stored. */
  endSubmit: (refusal: string | undefined) => void;
  setStatus: (status: string) => void;
  read: () => OverlayState;
};

/** Creates the model of the overlay of one document. */
export function createOverlayModel(): OverlayModel {
  let pending: Annotation[] = [];
  let page: PickedElement["page"] | undefined;
  let isPicking = false;
  let editor: Editor | undefined;
  let outline: OverlayState["outline"] = null;
  let status = "";
  let sending = 0;

  const mode = () => (editor ? "writing" : isPicking ? "picking" : "idle");
  const close = (continuesPicking: boolean) => {
    editor = undefined;
    outline = null;
    isPicking = continuesPicking;
  };
  return {
    mode,
    togglePicking() {
      status = "";
      close(editor !== undefined || !isPicking);
    },
    hover(hovered) {
      if (mode() === "picking") outline = hovered;
    },
    pick(picked) {
      editor = { picked, comment: EMPTY_COMMENT };
      outline = { ...picked.at, label: picked.description.element };
    },
    isAbout: (picked) => editor?.picked === picked,
    follow(at) {
      if (!editor) return;
      outline = at ? { ...at, label: editor.picked.description.element } : null;
    },
    edit(change) {
      if (editor) editor.comment = change(editor.comment);
    },
    add() {
      const comment = editor?.comment.text.trim();
      if (!editor || !comment) return;
      if (pending.length >= COMMENTS_MAX) {
        status = `A submission has at most ${COMMENTS_MAX} comments. Submit these first.`;
        return;
      }
      page = editor.picked.page;
      pending.push({ type: "element", comment, ...editor.picked.description });
      close(false);
    },
    escape: () => close(editor !== undefined && isPicking),
    remove(index) {
      if (sending === 0) pending.splice(index, 1);
    },
    beginSubmit() {
      if (pending.length === 0 || !page || sending > 0) return undefined;
      status = "Sending…";
      sending = pending.length;
      const output = summarize(pending, page);
      return JSON.stringify({ event: "submit", output, annotations: pending, url: page.url });
    },
    endSubmit(refusal) {
      if (refusal === undefined) pending = pending.slice(sending);
      sending = 0;
      status =
        refusal === undefined ? "Sent. Thank you." : `Not sent: ${refusal}. Your comments are still here.`;
    },
    setStatus(text) {
      status = text;
    },
    read() {
      const isChoosing = mode() === "picking";
      const idleText = pending.length > 0 ? "Add another" : "Annotate";
      return {
        pillText: isChoosing ? "Pick an element · Esc" : idleText,
        isPicking: isChoosing,
        status,
        rows: pending.map(({ comment, selector, frame }) => ({
          comment,
          where: frame === undefined ? selector : `${frame} → ${selector}`,
        })),
        outline,
        editor: editor
          ? { title: editor.picked.description.element, at: editor.picked.at, ...editor.comment }
          : null,
      };
    },
  };
}

/** Writes the comments as Markdown, for people and for the agent. */
function summarize(annotations: Annotation[], { title, url }: PickedElement["page"]): string {
  const items = annotations.map(({ element, selector, shadowSelector, frame, frameUrl, comment }, index) =>
    [
      `### ${index + 1}. ${element}`,
      ...(frame === undefined ? [] : [`**Frame:** \`${frame}\` (${frameUrl})`]),
      `**Selector:** \`${selector}\``,
      ...(shadowSelector === undefined ? [] : [`**In its closed shadow root:** \`${shadowSelector}\``]),
      `**Comment:** ${comment}\n`,
    ].join("\n"),
  );
  return `## Annotations: ${beginningOf(title, 500) || URL.parse(url)?.pathname}\n**URL:** ${url}\n\n${items.join("\n")}`;
}
