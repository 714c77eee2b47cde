import { Dialog } from "radix-ui";
import { type FormEvent, type ReactNode, type RefObject } from "react";

import { Icon } from "../../ui/Icon";
import "./page.css";

interface Props {
  title: string;
  /** A question that must be answered by a button, never by a click beside it. */
  alert?: boolean;
  /** The element that says more about it. */
  describedBy?: string;
  wide?: boolean;
  first?: RefObject<HTMLElement | null>;
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
  first,
  onClose,
  onEscape,
  onSubmit,
  foot,
  children,
}: Props) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <div className="page-add">
          <Dialog.Overlay className="overlay" />
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
            onOpenAutoFocus={(event) => {
              event.preventDefault();
              if (first?.current) first.current.focus();
              else if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
            }}
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
