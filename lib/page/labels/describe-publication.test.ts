import assert from "node:assert/strict";
import { test } from "node:test";
import { writePinnedTag, writeScriptTag } from "#lib/variant/script-tag.ts";
import { AT, publicationOf } from "../state/testing.ts";
import type { CheckFinding, Release, VariantRevision, VariantView } from "../state/view-types.ts";
import {
  changesDemoShop,
  describePublication,
  describeReleaseCheck,
  listBlockingPolicies,
} from "./describe-publication.ts";

const variant = (publication: VariantView["publication"]): VariantView => ({
  key: "main",
  revision: 3,
  check: null,
  publication,
  changeCount: 1,
  isShown: true,
});

test("a publication is named by its revision", () => {
  const words = [
    null,
    publicationOf(2, 3),
    publicationOf(1, 2),
    publicationOf(2, 3, { isUnchecked: true }),
  ].map((publication) => describePublication(variant(publication)));
  assert.deepEqual(words, [
    { tone: "quiet", title: "Not published" },
    { tone: "good", title: "Revision 3 published" },
    { tone: "attention", title: "Revision 2 published" },
    { tone: "attention", title: "Revision 3 published unchecked" },
  ]);
});

test("a release is described by its check, or as unchecked", () => {
  const release: Release = {
    id: "rel_1",
    number: 1,
    revision: 1,
    author: "person",
    check: null,
    isUnchecked: true,
    isCurrent: true,
    isUnpublished: false,
    pinnedScriptUrl: "",
    integrity: "",
    createdAt: AT,
  };
  assert.equal(describeReleaseCheck(release).title, "Unchecked");
  assert.equal(
    describeReleaseCheck({ ...release, check: { status: "fail", at: AT } }).title,
    "Check not passed",
  );
});

test("policies that block the script are listed once, with their pages", () => {
  const finding = (url: string, message: string, code: CheckFinding["code"]): CheckFinding => ({
    level: "warn",
    code,
    changeId: null,
    url,
    viewport: "desktop",
    message,
  });
  const [home, cart] = ["https://shop.example/", "https://shop.example/cart"];
  const policies = listBlockingPolicies({
    variant: "main",
    revision: 1,
    status: "warn",
    at: AT,
    durationMs: 1,
    findings: [
      finding(home, "Add it.", "csp_blocks_script"),
      { ...finding(home, "Add it.", "csp_blocks_script"), viewport: "phone" },
      finding(cart, "Add it.", "csp_blocks_script"),
      finding(cart, "It overflows.", "overflow"),
    ],
    pages: [],
    notes: [],
  });
  assert.deepEqual(policies, [{ message: "Add it.", urls: [home, cart] }]);
});

test("the demo shop is recognized by origin and path", () => {
  const revisionOf = (url: string): VariantRevision => ({
    variant: "main",
    revision: 1,
    author: "agent",
    createdAt: AT,
    isShown: true,
    document: { pages: [{ url, match: "path", css: "", js: "", changes: [] }] },
    check: null,
  });
  const origin = "https://service.example";
  const isDemo = [
    `${origin}/demo`,
    `${origin}/demo/cart?a=1`,
    `${origin}/demonstration`,
    "/demo",
    "https://x.example/demo",
  ];
  assert.deepEqual(
    isDemo.map((url) => changesDemoShop(revisionOf(url), [origin])),
    [true, true, false, false, false],
  );
});

test("script tags load the current release, or one release with its hash", () => {
  const publication = publicationOf(2, 3);
  assert.equal(
    writeScriptTag(publication),
    '<script async src="https://service.example/v/pub_a.js"></script>',
  );
  assert.equal(
    writePinnedTag(publication),
    '<script async src="https://service.example/v/pub_a@2.js" integrity="sha384-abc" crossorigin="anonymous"></script>',
  );
});
