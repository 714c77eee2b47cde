/** Which dialog of the list of servers is open (add, import, review, test, edit, value, sign-in …). */

import { AccountDialog } from "../accounts/AccountDialog";
import { AddDialog } from "../add/AddDialog";
import { ChoiceDialog } from "../add/ChoiceStep";
import { ReviewDialog } from "../add/ReviewDialog";
import { TestDialog } from "../add/TestDialog";
import type { Fix } from "../add/text";
import { EditDialog } from "./EditDialog";
import { ImportDialog } from "./import/ImportDialog";
import { SignInDialog } from "./SignInDialog";
import { ValueDialog } from "./ValueDialog";

export type Open =
  | { what: "add"; text?: string; start?: "paste" | "catalog" | "form" }
  | { what: "import" }
  | { what: "review"; name: string }
  | { what: "test"; name: string; shown?: boolean }
  | { what: "edit"; name: string }
  | { what: "value"; name: string; missing: readonly string[] }
  | { what: "sign-in"; name: string }
  | { what: "account"; name: string }
  | { what: "choice"; name: string };

/** The dialogs of the list, one at a time. */
export function Dialogs({ open, onOpen }: { open: Open | null; onOpen: (open: Open | null) => void }) {
  const close = () => onOpen(null);
  const fix = (name: string, what: Fix) => {
    if (what === "command") onOpen({ what: "edit", name });
    else if (what === "value") onOpen({ what: "value", name, missing: [] });
    else onOpen({ what, name });
  };
  switch (open?.what) {
    case undefined:
      return null;
    case "add":
      return <AddDialog text={open.text ?? ""} start={open.start ?? "paste"} onClose={close} onFix={fix} />;
    case "import":
      return <ImportDialog onClose={close} />;
    case "review":
      return <ReviewDialog key={open.name} name={open.name} onClose={close} onFix={fix} />;
    case "test":
      return <TestDialog key={open.name} name={open.name} shown={open.shown ?? false} onClose={close} onFix={fix} />;
    case "edit":
      return (
        <EditDialog
          key={open.name}
          name={open.name}
          onClose={close}
          onReview={() => onOpen({ what: "review", name: open.name })}
        />
      );
    case "value":
      return <ValueDialog key={open.name} name={open.name} missing={open.missing} onClose={close} />;
    case "account":
      return <AccountDialog server={open.name} onClose={close} />;
    case "choice":
      return <ChoiceDialog key={open.name} name={open.name} onClose={close} />;
    case "sign-in":
      return <SignInDialog key={open.name} name={open.name} onClose={close} />;
  }
}
