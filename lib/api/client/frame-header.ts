export { decodeFrame } from "#lib/browser/frame-header.ts";
