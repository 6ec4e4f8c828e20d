"use client";

import { Ellipsis } from "lucide-react";
import { type ComponentProps, type ComponentType, type ReactNode, useState } from "react";
import { IconButton } from "./icon-button.tsx";

/** The properties of a button with its own label and icon. */
export type MenuButtonProps = Omit<ComponentProps<typeof IconButton>, "label" | "children">;

/** The button of a menu. A menu itself is loaded when the button is first used. */
export function MenuButton(props: MenuButtonProps) {
  return (
    <IconButton label="More" {...props}>
      <Ellipsis />
    </IconButton>
  );
}

/** What a button gets that opens something whose code is loaded when the button is first used. */
type OpenerProps = Pick<
  ComponentProps<"button">,
  "aria-haspopup" | "aria-expanded" | "onPointerEnter" | "onFocus" | "onClick"
>;

/**
 * Shows a button until it is first used, then the menu or the form of the button, which is open at first.
 *
 * @param props.preload loads the code. Called when the person is about to open it.
 * @param props.button by default one with the label "More".
 */
export function OnDemand({
  popup = "menu",
  preload,
  button: Opener = MenuButton,
  children,
}: {
  popup?: "menu" | "dialog";
  preload: () => void;
  button?: ComponentType<OpenerProps>;
  children: ReactNode;
}) {
  const [isWanted, setWanted] = useState(false);
  if (isWanted) return children;
  return (
    <Opener
      aria-haspopup={popup}
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setWanted(true)}
    />
  );
}
