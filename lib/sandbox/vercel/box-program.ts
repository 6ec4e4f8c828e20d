import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { runBoxScript } from "./run-box-script.ts";
import type { VercelBox } from "./vercel-box.ts";

/** The built program, see `lib/setup/build-box-program.mjs`. */
const BUILT = join(import.meta.dirname, "../../../.box-program");
const manifestSchema = z.object({
  hash: z.string(),
  files: z.array(z.string()),
  packages: z.record(z.string(), z.string()),
});

/** Where the program of the browser host is in a box. */
type BoxProgramPlace = {
  /** The folder of the program. It has the layout of the project. */
  root: string;
  /** The folder with the npm packages of the program, by name. */
  packages: string;
};

/**
 * Shell script that installs npm packages, given from `$2` on, in folder `$1`, unless they are there. A folder that is
 * not complete is removed first.
 */
const INSTALL_PACKAGES = `[ -e "$1/.complete" ] && exit
rm -rf -- "$1" && mkdir -p -- "$1" && cd -- "$1" && shift &&
npm install --no-audit --no-fund --no-package-lock --ignore-scripts "$@" >&2 && touch .complete`;

/** Shell script that completes the program in folder `$1`, whose packages are in folder `$2`. Other users can read both. */
const COMPLETE = `ln -sfn -- "../$(basename -- "$2")/node_modules" "$1/node_modules" && chmod -R a+rX -- "$1" "$2" && touch "$1/.complete"`;

/**
 * Installs the browser host's program and its packages in a box, unless they are there. A box that was created from a
 * snapshot of this version of the service has both. @throws Error with the end of the output if a step fails.
 */
export async function installBoxProgram(box: VercelBox): Promise<BoxProgramPlace> {
  const { hash, files, packages } = manifestSchema.parse(
    JSON.parse(await readFile(join(BUILT, "manifest.json"), "utf8")),
  );
  const names = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const folder = `${box.cwd}/.browser-host`;
  const place = {
    root: `${folder}/${hash}`,
    packages: `${folder}/packages-${createHash("sha256").update(names.join()).digest("hex").slice(0, 12)}`,
  };
  const isThere = await runBoxScript(
    box,
    '[ -e "$1/.complete" ] && [ -e "$2/.complete" ] && echo yes || true',
    [place.root, place.packages],
  );
  if (isThere.trim() !== "yes") {
    await runBoxScript(box, INSTALL_PACKAGES, [place.packages, ...names]);
    await box.writeFiles(
      await Promise.all(
        files.map(async (path) => ({
          path: `${place.root}/${path}`,
          content: await readFile(join(BUILT, path)),
        })),
      ),
    );
    await runBoxScript(box, COMPLETE, [place.root, place.packages]);
  }
  return { ...place, packages: `${place.packages}/node_modules` };
}
