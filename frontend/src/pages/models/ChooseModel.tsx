/** The dialog that chooses a model: all lists of the vendors that can be asked, or those of one, and any name as it is
 * typed. */

import { useState, type FormEvent } from "react";

import { useOperation } from "../../api/hooks";
import type { Vendor } from "../../api/types";
import { Dialog } from "../../ui/Dialog";
import { listable } from "./listing";
import { ModelField } from "./ModelField";
import { CHOOSE } from "./text";
import { useModelLists } from "./useModelLists";

interface Props {
  title?: string;
  about?: string;
  action?: string;
  /** Only its models. */
  vendor?: Vendor;
  /** What is chosen by now. */
  model?: string;
  onClose: () => void;
  onModel: (model: string) => void;
}

export function ChooseModel(props: Props) {
  const { title = CHOOSE.title, about = "", action = CHOOSE.use, vendor, model = "", onClose, onModel } = props;
  const { data } = useOperation("models", {});
  const { options, notes, loading } = useModelLists(vendor ? [vendor] : listable(data?.vendors ?? []));
  const [name, setName] = useState(model);
  const typed = name.trim();
  const whole = vendor && typed && !typed.startsWith(`${vendor.vendor}:`) ? `${vendor.vendor}:${typed}` : typed;
  const isName = whole.includes(":") || whole === "demo";
  function take(model: string) {
    onModel(model);
    onClose();
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    if (isName) take(whole);
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="dialog-form" onSubmit={submit}>
        {about && <p className="secondary">{about}</p>}
        <ModelField
          first
          label={CHOOSE.label}
          placeholder={CHOOSE.placeholder}
          {...{ options, notes, loading }}
          value={name}
          onChange={setName}
          onTake={take}
        />
        <div className="row align-end">
          <button type="button" className="btn" onClick={onClose}>
            {CHOOSE.cancel}
          </button>
          <button type="submit" className="btn primary" disabled={!isName}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
