/** The path below which published scripts are served. Source: `wire.md`, Publications. */
const FOLDER = "/v/";

/** Name of the script of the newest variant that is published for the demo shop. */
export const DEMO_SCRIPT = "demo.js";

/** The parsed file name of a script. `release` is a number for a particular release, and undefined for the current one. */
type ScriptName = { publicationId: string; release: number | undefined };

const FILE_NAME = /^(pub_[a-z2-7]{24})(?:@([1-9]\d{0,8}))?\.js$/;

/** Parses a file name below `/v/`. Undefined if no published script can have this name. */
export function readScriptName(name: string): ScriptName | undefined {
  const [, publicationId, release] = FILE_NAME.exec(name) ?? [];
  if (publicationId === undefined) return undefined;
  return { publicationId, release: release === undefined ? undefined : Number(release) };
}

/** The URL of the script of a publication's current release. */
export const scriptUrl = (baseUrl: string, publicationId: string): string =>
  `${baseUrl}${FOLDER}${publicationId}.js`;

/**
 * The URLs of the script of the current release, and of the script of this release.
 *
 * @param baseUrl the public origin of the service, without a trailing slash
 */
export const scriptUrls = (baseUrl: string, publicationId: string, release: number) => ({
  scriptUrl: scriptUrl(baseUrl, publicationId),
  pinnedScriptUrl: `${baseUrl}${FOLDER}${publicationId}@${release}.js`,
});
