import type { Metadata } from "next";
import { headers } from "next/headers";
import { loadReference } from "#lib/api/next/mount.ts";
import { Reference } from "./reference.tsx";

export const metadata: Metadata = { title: "API reference" };

/** Shows the API reference, which is the OpenAPI document as a page. */
export default async function DocsPage() {
  // Reading the headers makes Next render the page for each request. This is necessary for the CSP nonce and for the
  // document.
  await headers();
  return <Reference document={await loadReference()} />;
}
