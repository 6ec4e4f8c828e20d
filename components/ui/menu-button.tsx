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

/**
 * Shows the button of a menu until it is first used, then the menu, which is open at first.
 *
 * @param props.preload loads the code of the menu. Called when the person is about to open it.
 * @param props.button the button; by default one with the label "More".
 */
export function MenuOnDemand({
  preload,
  button: Button = MenuButton,
  children,
}: {
  preload: () => void;
  button?: ComponentType<MenuButtonProps>;
  children: ReactNode;
}) {
  const [isWanted, setWanted] = useState(false);
  if (isWanted) return children;
  return (
    <Button
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setWanted(true)}
    />
  );
}
