/** Type declarations for packages that have no own types, or types that cannot be imported. */
declare module "@joplin/turndown-plugin-gfm" {
  import type TurndownService from "turndown";
  /** Supports tables, strikethrough, task lists and highlighted code. */
  export const gfm: TurndownService.Plugin;
}

declare module "@mixmark-io/domino" {
  const domino: {
    /** Parses a page according to the HTML Standard. */
    createDocument: (html: string) => Document;
  };
  export default domino;
}
