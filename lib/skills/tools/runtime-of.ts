import type { Runtime } from "#lib/sandbox/sandbox-service.ts";

const BY_EXTENSION: ReadonlyMap<string, Runtime> = new Map([
  ["mjs", "node"],
  ["js", "node"],
  ["cjs", "node"],
  ["py", "python3"],
  ["sh", "bash"],
  ["bash", "bash"],
]);

/** First lines of scripts without an extension. The program that they name is not run, only the one given here. */
const BY_FIRST_LINE: ReadonlyMap<string, Runtime> = new Map([
  ["#!/usr/bin/env node", "node"],
  ["#!/usr/bin/node", "node"],
  ["#!/usr/bin/env python3", "python3"],
  ["#!/usr/bin/python3", "python3"],
  ["#!/usr/bin/env bash", "bash"],
  ["#!/usr/bin/bash", "bash"],
  ["#!/bin/bash", "bash"],
  ["#!/bin/sh", "bash"],
]);

/** What runs a script: by its extension, or by its first line if it has none. Undefined if that is not supported. */
export function runtimeOf(path: string, bytes: Uint8Array): Runtime | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  if (dot > 0) return BY_EXTENSION.get(name.slice(dot + 1).toLowerCase());
  const [line = ""] = Buffer.from(bytes.subarray(0, 200)).toString("latin1").split("\n");
  return BY_FIRST_LINE.get(line.trimEnd());
}
