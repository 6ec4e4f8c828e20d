/** The tags by which pages load a published variant, as the agent is told them. */
export { writePinnedTag, writeScriptTag } from "#lib/variant/script-tag.ts";
