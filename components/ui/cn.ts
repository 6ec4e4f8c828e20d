import { type ClassValue, clsx } from "clsx";
import { twMerge } from "tailwind-merge";

/** Joins class names. If two Tailwind classes conflict, the later one wins. */
export const cn = (...classes: ClassValue[]): string => twMerge(clsx(classes));
