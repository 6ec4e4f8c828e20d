import type { Publication } from "#lib/events/event.ts";

/**
 * The tag by which a page loads the current release. It is `async`, so that the page never waits for this service.
 */
export const writeScriptTag = ({ scriptUrl }: Pick<Publication, "scriptUrl">): string =>
  `<script async src="${scriptUrl}"></script>`;

/** The tag by which a page loads one release, whose bytes the browser checks. */
export const writePinnedTag = ({
  pinnedScriptUrl,
  integrity,
}: Pick<Publication, "pinnedScriptUrl" | "integrity">): string =>
  `<script async src="${pinnedScriptUrl}" integrity="${integrity}" crossorigin="anonymous"></script>`;
