/** The path below which published scripts are served. Source: `wire.md`, Publications. */
const FOLDER = "/v/";

/**
 * File name of the script for the demo shop: the script of the most recently updated publication that has a page of the
 * shop.
 */
export const DEMO_SCRIPT = "demo.js";

/** The parsed file name of a script. `release` is undefined if the name refers to the current release. */
type ScriptName = { publicationId: string; release: number | undefined };

const FILE_NAME = /^(pub_[a-z2-7]{24})(?:@([1-9]\d{0,8}))?\.js$/;

/**
 * Parses a file name below `/v/` that consists of a publication's id, with or without the number of a release. Returns
 * undefined for any other name, including `DEMO_SCRIPT`.
 */
export function readScriptName(name: string): ScriptName | undefined {
  const [, publicationId, release] = FILE_NAME.exec(name) ?? [];
  if (publicationId === undefined) return undefined;
  return { publicationId, release: release === undefined ? undefined : Number(release) };
}

/** Builds the URL of the script of a publication's current release. */
export const scriptUrl = (baseUrl: string, publicationId: string): string =>
  `${baseUrl}${FOLDER}${publicationId}.js`;

/**
 * Builds two URLs: one for the script of the current release, and one for the script of the release with this number.
 *
 * @param baseUrl the public origin of the service, without a trailing slash
 */
export const scriptUrls = (baseUrl: string, publicationId: string, release: number) => ({
  scriptUrl: scriptUrl(baseUrl, publicationId),
  pinnedScriptUrl: `${baseUrl}${FOLDER}${publicationId}@${release}.js`,
});
