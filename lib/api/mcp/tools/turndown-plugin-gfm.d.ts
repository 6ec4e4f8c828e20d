/** The package has no types of its own. */
declare module "@joplin/turndown-plugin-gfm" {
  import type TurndownService from "turndown";
  /** Tables, strikethrough, task lists and highlighted code. */
  export const gfm: TurndownService.Plugin;
}
