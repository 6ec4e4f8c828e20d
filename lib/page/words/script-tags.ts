/** The script tags of a published variant; the agent gets the same tags. */
export { writePinnedTag, writeScriptTag } from "#lib/variant/script-tag.ts";
