import type { Publication } from "#lib/events/event.ts";

/**
 * Writes the tag with which a page loads the current release. The tag is `async`, so the page never waits for this
 * service.
 */
export const writeScriptTag = ({ scriptUrl }: Pick<Publication, "scriptUrl">): string =>
  `<script async src="${scriptUrl}"></script>`;

/**
 * Writes the tag with which a page loads one particular release. The browser verifies the script against the
 * `integrity` hash.
 */
export const writePinnedTag = ({
  pinnedScriptUrl,
  integrity,
}: Pick<Publication, "pinnedScriptUrl" | "integrity">): string =>
  `<script async src="${pinnedScriptUrl}" integrity="${integrity}" crossorigin="anonymous"></script>`;
