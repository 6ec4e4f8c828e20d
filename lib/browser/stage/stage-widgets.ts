import type { Page } from "playwright";
import type { BrowserInput } from "../browser-service.ts";
import { createFileChoosers, type FileChoosers } from "./file-choosers.ts";
import { createOpenControls } from "./open-controls.ts";
import { createPeopleDialogs, type PERSON_MS_MAX, type PeopleDialogs } from "./people-dialogs.ts";
import {
  type ActionOutcome,
  type ChosenFile,
  DONE,
  type StageWidget,
  WIDGET_GONE,
  type WidgetAnswer,
} from "./stage-state.ts";

/** The controls of one browser that wait for the person who has control of it. */
export type StageWidgets = {
  dialogs: Pick<PeopleDialogs, "offer" | "forget">;
  offerFiles: FileChoosers["offer"];
  noteInput: (input: BrowserInput) => void;
  /** Notes that a page shows another document, or was closed. */
  noteDocument: (page: Page) => void;
  /** Notes that people see another page. */
  noteSelected: () => void;
  /** The control that people see: a dialog first, because it blocks the page. */
  current: () => StageWidget | undefined;
  answer: (id: string, answer: WidgetAnswer) => Promise<ActionOutcome>;
  addFile: (id: string, file: ChosenFile) => ActionOutcome;
  /** Gives up what waits, unless a person is there. */
  recheck: () => void;
  end: () => void;
};

type Deps = Parameters<typeof createOpenControls>[0] & { personMsMax?: typeof PERSON_MS_MAX | undefined };

/** Creates the controls of one browser. `isPersonThere` says whether a person has control and sees them. */
export function createStageWidgets(deps: Deps): StageWidgets {
  const dialogs = createPeopleDialogs(deps);
  const files = createFileChoosers(deps);
  const controls = createOpenControls(deps);

  async function answer(id: string, given: WidgetAnswer): Promise<ActionOutcome> {
    switch (given.kind) {
      case "dialog":
        return dialogs.answer(id, given) ? DONE : WIDGET_GONE;
      case "files":
        return files.give(id);
      case "option":
      case "value":
        return controls.answer(id, given);
      case "cancel": {
        const isEnded =
          dialogs.answer(id, { kind: "dialog", isAccepted: false }) ||
          files.cancel(id) ||
          (await controls.cancel(id));
        return isEnded ? DONE : WIDGET_GONE;
      }
    }
  }

  return {
    dialogs,
    offerFiles: files.offer,
    noteInput: controls.noteInput,
    noteDocument(page) {
      dialogs.noteDocument(page);
      files.noteDocument(page);
      if (deps.selected()?.page === page) controls.forget();
    },
    noteSelected: controls.forget,
    current: () => dialogs.first() ?? files.current() ?? controls.current(),
    answer,
    addFile: files.addFile,
    recheck() {
      dialogs.recheck();
      files.recheck();
      if (!deps.isPersonThere()) controls.forget();
    },
    end: controls.end,
  };
}
