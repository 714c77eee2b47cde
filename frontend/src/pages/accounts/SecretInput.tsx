/** The field for a password, token or key file: largest file that can be chosen. A secret is never in the state of the
 * page, only in its input. */

import { useRef, useState, type InputHTMLAttributes } from "react";

import { FORM } from "./text";

const LARGEST = 64 * 1024;

interface Props {
  common: InputHTMLAttributes<HTMLInputElement>;
  /** Whether its value is the content of a file, which can be chosen. */
  file: boolean;
  input: (element: HTMLInputElement | null) => void;
}

/** A secret: it is never in the state of the page, only in its input. */
export function SecretInput({ common, file, input }: Props) {
  const secret = useRef<HTMLInputElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const [tooLarge, setTooLarge] = useState(false);
  async function take(chosen: File | undefined) {
    if (!chosen) return;
    setTooLarge(chosen.size > LARGEST);
    if (chosen.size <= LARGEST && secret.current) secret.current.value = await chosen.text();
  }
  return (
    <>
      <input
        {...common}
        ref={(element) => {
          secret.current = element;
          input(element);
        }}
        type="password"
        autoComplete="off"
        spellCheck={false}
      />
      {tooLarge && <span className="text-small error-text">{FORM.tooLarge}</span>}
      {file && (
        <>
          <button
            type="button"
            className="plain-button link-button nowrap"
            disabled={common.disabled}
            onClick={() => chooser.current?.click()}
          >
            {FORM.chooseFile}
          </button>
          <input
            ref={chooser}
            type="file"
            className="file-chooser"
            aria-label={FORM.chooseFile}
            onChange={(event) => void take(event.target.files?.[0])}
          />
        </>
      )}
    </>
  );
}
