/** The frame of all dialogs for servers and accounts: title, body, buttons; Escape, and clicks beside a question. */

import { Dialog } from "radix-ui";
import { type FormEvent, type ReactNode } from "react";

import { useDialogFocus } from "../../ui/dialogFocus";
import { Icon } from "../../ui/Icon";
import "./page.css";

interface Props {
  title: string;
  /** A question that must be answered by a button, never by a click beside it. */
  alert?: boolean;
  /** The element that says more about it. */
  describedBy?: string;
  wide?: boolean;
  onClose: () => void;
  onEscape?: () => void;
  onSubmit?: () => void;
  foot: ReactNode;
  children: ReactNode;
}

/** The dialog of one step: title, body, foot. */
export function StepDialog({
  title,
  alert = false,
  describedBy,
  wide = false,
  onClose,
  onEscape,
  onSubmit,
  foot,
  children,
}: Props) {
  const focus = useDialogFocus(alert);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <div className="page-add">
          {/* A click beside a question takes no focus from it. */}
          <Dialog.Overlay className="overlay" onMouseDown={(event) => event.preventDefault()} />
          <Dialog.Content
            className={wide ? "dialog step-dialog wide" : "dialog step-dialog"}
            role={alert ? "alertdialog" : "dialog"}
            aria-modal="true"
            aria-describedby={describedBy}
            onInteractOutside={(event) => alert && event.preventDefault()}
            onEscapeKeyDown={(event) => {
              if (!onEscape) return;
              event.preventDefault();
              onEscape();
            }}
            {...focus}
          >
            <form onSubmit={submit} noValidate>
              <div className="step-head">
                <Dialog.Title>{title}</Dialog.Title>
                <Dialog.Close type="button" className="btn bare icon-only" aria-label="Close">
                  <Icon name="close" />
                </Dialog.Close>
              </div>
              <div className="step-body">{children}</div>
              <div className="step-foot">{foot}</div>
            </form>
          </Dialog.Content>
        </div>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
