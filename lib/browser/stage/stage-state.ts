/** A rectangle in CSS pixels of the page that people see. */
type Box = { x: number; y: number; width: number; height: number };

/** A tab of the live browser. `id` names it until it is closed. */
type StageTab = { id: string; title: string; url: string; isShown: boolean };

/** Why a page could not be shown, by which the view chooses its words. */
export const FAILURE_KINDS = ["refused", "name", "connection", "certificate", "other"] as const;

/** A document that could not be shown. The page of before stays. `id` is different for each failure. */
export type LoadFailure = { id: number; url: string; kind: (typeof FAILURE_KINDS)[number]; reason: string };

export type DialogKind = "alert" | "confirm" | "prompt" | "beforeunload";

/** The types of `<input>` whose picker Chromium draws outside of the page. */
export const PICKER_TYPES = ["date", "time", "month", "week", "datetime-local", "color"] as const;

type SelectOption = {
  label: string;
  /** Label of the option's group. Null if it is in none. */
  group: string | null;
  isDisabled: boolean;
  isSelected: boolean;
};

/** A control of the browser that its pictures do not show. Texts are the page's, and bounded. */
export type StageWidget = { id: string } & (
  | {
      kind: "dialog";
      dialog: DialogKind;
      /** Host of the page that asks; empty for a page without one. */
      host: string;
      message: string;
      /** Text with which a prompt begins. */
      defaultText: string;
      /** Whether the page has asked several times, so that its further dialogs may be turned off. */
      mayMute: boolean;
    }
  | {
      kind: "select";
      box: Box;
      label: string;
      options: SelectOption[];
      /** Number of further options, which are not listed. */
      omitted: number;
    }
  | {
      kind: "picker";
      box: Box;
      label: string;
      type: (typeof PICKER_TYPES)[number];
      value: string;
      min: string;
      max: string;
      step: string;
    }
  /** Suggestions of the `<datalist>` of the focused field, for what is typed in it. */
  | { kind: "suggestions"; box: Box; label: string; options: { value: string; label: string }[] }
  | {
      kind: "files";
      isMultiple: boolean;
      /** The `accept` attribute. */
      accept: string;
      /** The files that a person has added so far. */
      files: { name: string; sizeBytes: number }[];
    }
);

/** What people need to know of the live browser in addition to its picture. */
export type StageState = {
  /** In the order in which they were opened. */
  tabs: StageTab[];
  /** Whether the shown page loads a document. */
  isLoading: boolean;
  failure: LoadFailure | null;
  /** The control that waits for a person. */
  widget: StageWidget | null;
};

/** A person's answer to a {@link StageWidget}. An answer that does not fit the widget has no effect. */
export type WidgetAnswer =
  | { kind: "dialog"; isAccepted: boolean; text?: string; isMuted?: boolean }
  /** The number of the chosen option, counted from 0. */
  | { kind: "option"; chosen: number }
  | { kind: "value"; value: string }
  /** Gives the files that were added to the page. */
  | { kind: "files" }
  | { kind: "cancel" };

/** Largest file that a person can give to a page. */
export const CHOSEN_FILE_BYTES_MAX = 10 * 2 ** 20;

/** A file that a person adds to a file chooser. */
export type ChosenFile = { name: string; mediaType: string; bytes: Uint8Array };

/** What a person does with the live browser, other than the input to its page. */
export type StageAction =
  | { type: "answer"; widgetId: string; answer: WidgetAnswer }
  | { type: "showTab" | "closeTab"; tabId: string }
  /** Ends the loading of the shown page. */
  | { type: "stop" }
  | { type: "addFile"; widgetId: string; file: ChosenFile };

/** Whether an action had an effect. If not, `reason` is a sentence without its full stop. */
export type ActionOutcome = { isDone: true } | { isDone: false; reason: string };

export const DONE: ActionOutcome = { isDone: true };
export const refuseAction = (reason: string): ActionOutcome => ({ isDone: false, reason });
/** The outcome if the session has no page at the moment. */
export const NOT_RUNNING = refuseAction("the session's browser does not run");
/** The outcome if the connection has no control of the browser, or none any more. */
export const NOT_IN_CONTROL = refuseAction("this connection does not have control of the browser");
/** The outcome if the widget has ended, for example because the page has answered or left. */
export const WIDGET_GONE = refuseAction("the page no longer waits for this");
