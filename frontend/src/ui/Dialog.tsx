/** The frame of dialogs: title, cross, Esc. What gets the focus is in `dialogFocus.ts`. */

import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

import { useDialogFocus } from "./dialogFocus";
import { Icon } from "./Icon";

interface Props {
  title: string;
  /** One sentence under the title, or nothing. */
  about?: string;
  className?: string;
  /** Its main action needs a second look: the other button has the focus at first. */
  careful?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A question or a form over the page; Esc and the cross close it, and the focus goes back. */
export function Dialog({ title, about, className = "", careful = false, onClose, children }: Props) {
  const focus = useDialogFocus(careful);
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content
          className={`dialog ${className}`}
          {...focus}
          {...(about ? {} : { "aria-describedby": undefined })}
        >
          <div className="panel-head">
            <Radix.Title className="grow text-title">{title}</Radix.Title>
            <Radix.Close className="btn bare icon-only" aria-label="Close">
              <Icon name="close" />
            </Radix.Close>
          </div>
          {about && <Radix.Description className="secondary">{about}</Radix.Description>}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
