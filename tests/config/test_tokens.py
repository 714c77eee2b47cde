from __future__ import annotations

import pytest

from toolcrib.config.tokens import fits, hash_token, new_token


def test_a_token_fits_its_own_hashes_and_no_other() -> None:
    token, other = new_token(), new_token()

    assert token != other
    assert hash_token(token) != hash_token(token)
    assert fits(token, hash_token(token))
    assert not fits(other, hash_token(token))
    assert token not in hash_token(token)


@pytest.mark.parametrize("hashed", ["", "sha256", "sha256:", "sha256::", "md5:00:00", ":::", "t"])
def test_what_is_no_hash_fits_nothing(hashed: str) -> None:
    for token in ("", "t", hashed):
        assert not fits(token, hashed)
