import type { FileChooser, Page } from "playwright";
import { errorText } from "#lib/text/error-text.ts";
import { shorten } from "#lib/text/shorten.ts";
import {
  type ActionOutcome,
  CHOSEN_FILE_BYTES_MAX,
  type ChosenFile,
  DONE,
  refuseAction,
  type StageWidget,
  WIDGET_GONE,
} from "./stage-state.ts";

/** The file chooser of a browser that waits for the person who has control. There is at most one: the newest. */
export type FileChoosers = {
  /** Leaves a file chooser to people if a person is there. Otherwise the page gets no files. */
  offer: (page: Page, chooser: FileChooser) => Promise<void>;
  current: () => FilesWidget | undefined;
  addFile: (id: string, file: ChosenFile) => ActionOutcome;
  /** Gives the added files to the page. */
  give: (id: string) => Promise<ActionOutcome>;
  /** Ends the chooser without files. @returns whether it still waited. */
  cancel: (id: string) => boolean;
  /** Ends the chooser unless a person is there. */
  recheck: () => void;
  /** Ends the chooser of a page that shows another document, or was closed. */
  noteDocument: (page: Page) => void;
};

type FilesWidget = Extract<StageWidget, { kind: "files" }>;
type Open = { widget: Omit<FilesWidget, "files">; page: Page; chooser: FileChooser; files: ChosenFile[] };

/** What one file chooser takes. The files are in memory until they are given to the page. */
const CHOSEN_FILES_MAX = 20;
const CHOSEN_BYTES_MAX = 30 * 2 ** 20;
const NAME_CHARS_MAX = 255;
const ACCEPT_CHARS_MAX = 500;
const GIVE_MS_MAX = 20_000;

type Deps = { isPersonThere: () => boolean; onChange: () => void };

/** @see FileChoosers */
export function createFileChoosers({ isPersonThere, onChange }: Deps): FileChoosers {
  let open: Open | undefined;
  const end = () => {
    open = undefined;
    onChange();
  };
  const find = (id: string) => (open?.widget.id === id ? open : undefined);

  return {
    async offer(page, chooser) {
      if (!isPersonThere()) return;
      const element = chooser.element();
      // The element is gone if its page has navigated.
      const [accept, folder] = await Promise.all([
        element.getAttribute("accept"),
        element.getAttribute("webkitdirectory"),
      ]).catch(() => [null, null]);
      // Folders need files on the machine of the browser.
      if (folder !== null || !isPersonThere()) return;
      const id = crypto.randomUUID();
      const isMultiple = chooser.isMultiple();
      const widget = {
        id,
        kind: "files",
        isMultiple,
        accept: shorten(accept ?? "", ACCEPT_CHARS_MAX),
      } as const;
      open = { widget, page, chooser, files: [] };
      onChange();
    },
    current: () =>
      open && {
        ...open.widget,
        files: open.files.map(({ name, bytes }) => ({ name, sizeBytes: bytes.byteLength })),
      },
    addFile(id, file) {
      const found = find(id);
      if (!found) return WIDGET_GONE;
      const files = found.widget.isMultiple ? [...found.files, file] : [file];
      const size = files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
      const refusal = findRefusal(file, files.length, size);
      if (refusal !== undefined) return refuseAction(refusal);
      found.files = files;
      onChange();
      return DONE;
    },
    async give(id) {
      const found = find(id);
      if (!found) return WIDGET_GONE;
      const payload = found.files.map(({ name, mediaType, bytes }) => ({
        name,
        mimeType: mediaType,
        buffer: Buffer.from(bytes),
      }));
      end();
      try {
        await found.chooser.setFiles(payload, { timeout: GIVE_MS_MAX });
        return DONE;
      } catch (error) {
        return refuseAction(`the page did not take the files: ${errorText(error).split("\n")[0]}`);
      }
    },
    cancel(id) {
      const found = find(id);
      if (found) end();
      return found !== undefined;
    },
    recheck() {
      if (open && !isPersonThere()) end();
    },
    noteDocument(page) {
      if (open?.page === page) end();
    },
  };
}

function findRefusal({ name, bytes }: ChosenFile, count: number, sizeBytes: number): string | undefined {
  if (name === "" || name.length > NAME_CHARS_MAX || /[/\\\0]/.test(name))
    return `a file needs a name of up to ${NAME_CHARS_MAX} characters without slashes`;
  if (bytes.byteLength > CHOSEN_FILE_BYTES_MAX)
    return `the file is larger than ${CHOSEN_FILE_BYTES_MAX / 2 ** 20} MiB`;
  if (count > CHOSEN_FILES_MAX) return `at most ${CHOSEN_FILES_MAX} files can be chosen at once`;
  if (sizeBytes > CHOSEN_BYTES_MAX)
    return `the files have more than ${CHOSEN_BYTES_MAX / 2 ** 20} MiB together`;
  return undefined;
}
