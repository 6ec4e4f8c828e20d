import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildApp } from "#e2e/variants/matrix/build-app.ts";

/** The packages from npm of all pages, with exact versions. None of them is a dependency of the product. */
const PACKAGES = {
  "@dnd-kit/core": "6.3.1",
  "@dnd-kit/sortable": "10.0.0",
  "@dnd-kit/utilities": "3.2.2",
  "@emotion/react": "11.14.0",
  "@emotion/styled": "11.14.1",
  "@mui/icons-material": "9.5.0",
  "@mui/material": "9.5.0",
  "@mui/x-data-grid": "9.17.0",
  "@mui/x-date-pickers": "9.17.0",
  "@shoelace-style/shoelace": "2.20.1",
  "@tiptap/core": "3.35.0",
  "@tiptap/pm": "3.35.0",
  "@tiptap/starter-kit": "3.35.0",
  "ag-grid-community": "36.2.0",
  antd: "6.6.8",
  dayjs: "1.11.23",
  esbuild: "0.25.12",
  fullcalendar: "6.1.21",
  "monaco-editor": "0.57.0",
  "radix-ui": "1.8.1",
  react: "19.3.1",
  "react-dom": "19.3.1",
};
const FLAGS = [
  "--bundle",
  "--minify",
  "--format=iife",
  "--jsx=automatic",
  "--loader:.ttf=dataurl",
  "--loader:.svg=dataurl",
  '--define:process.env.NODE_ENV="production"',
  "--outdir=dist",
];
const SOURCES = join(import.meta.dirname, "pages");

/**
 * Installs the libraries from npm and builds their pages in a folder outside of the repository. Pages that were built
 * before are not built again.
 * @returns the folder with `<page>.js` and, for some pages, `<page>.css`.
 */
export async function buildLibraryPages(log: (text: string) => void): Promise<string> {
  const names = readdirSync(SOURCES).sort();
  const files = Object.fromEntries(
    names.map((name) => [`pages/${name}`, readFileSync(join(SOURCES, name), "utf8")]),
  );
  const folder = await buildApp(
    {
      name: "Eval pages",
      packages: PACKAGES,
      files,
      commands: [["node_modules/esbuild/bin/esbuild", ...Object.keys(files), ...FLAGS]],
    },
    log,
  );
  return join(folder, "dist");
}
