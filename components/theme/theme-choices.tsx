"use client";

import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { MenuChoices } from "#components/ui/menu.tsx";
import { applyTheme, currentTheme } from "./theme.ts";

const CHOICES = [
  { value: "system", label: "System", icon: <Monitor /> },
  { value: "light", label: "Light", icon: <Sun /> },
  { value: "dark", label: "Dark", icon: <Moon /> },
] as const;

/** Shows the menu choices for the theme: light, dark, or the theme of the operating system. */
export function ThemeChoices() {
  const [theme, setTheme] = useState(currentTheme);
  return (
    <MenuChoices
      label="Theme"
      value={theme}
      choices={CHOICES}
      onChange={(chosen) => {
        setTheme(chosen);
        applyTheme(chosen);
      }}
    />
  );
}
