/** These packages have no types of their own that a module can import. */
declare module "@joplin/turndown-plugin-gfm" {
  import type TurndownService from "turndown";
  /** Tables, strikethrough, task lists and highlighted code. */
  export const gfm: TurndownService.Plugin;
}

declare module "@mixmark-io/domino" {
  const domino: {
    /** Parses a page as the HTML Standard says. */
    createDocument: (html: string) => Document;
  };
  export default domino;
}
