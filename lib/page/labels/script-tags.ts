/** Exports the functions that write the script tags of a published variant. The agent gets the same tags. */
export { writePinnedTag, writeScriptTag } from "#lib/variant/script-tag.ts";
