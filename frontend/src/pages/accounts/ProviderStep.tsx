/** The first step of adding an account: the list of providers (Google, mail, Discord …), which comes from the host. */

import { StepDialog } from "../add/StepDialog";
import { FORM, list } from "./text";
import type { Provider } from "./types";

interface Props {
  providers: readonly Provider[];
  onChoose: (provider: Provider) => void;
  onClose: () => void;
}

/** Where the account is. */
export function ProviderStep({ providers, onChoose, onClose }: Props) {
  return (
    <StepDialog
      title={FORM.choose}
      onClose={onClose}
      foot={
        <button type="button" className="btn" onClick={onClose}>
          {FORM.cancel}
        </button>
      }
    >
      <p className="secondary">{FORM.chooseAbout}</p>
      <ul className="catalog-list" aria-label={FORM.choose}>
        {providers.map((provider) => (
          <li key={provider.provider}>
            <button type="button" className="plain-button" onClick={() => onChoose(provider)}>
              <span className="row">
                <b className="medium">{provider.title}</b>
                <span className="tag">{list(provider.services)}</span>
              </span>
              <span className="secondary text-small">{provider.about}</span>
            </button>
          </li>
        ))}
      </ul>
    </StepDialog>
  );
}
