package peer

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"time"
)

// Both ends are known by their keys alone. The far end makes its own and says
// the hash of it in the join line. The near end's is made from the token in the
// same line, so the far end knows its hash before, and the token itself never
// goes over the network.

var errPin = errors.New("not the key that the join line is of")

func nearKey(token [32]byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(token[:]) }

// certificate wraps a key, as TLS wants it. Nobody looks at what it says.
func certificate(key crypto.Signer) (tls.Certificate, error) {
	t := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rdmadoctor"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)} // Clocks of the hosts may differ.
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// pinOf is the hash of a public key.
func pinOf(public crypto.PublicKey) ([32]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	return sha256.Sum256(der), err
}

// config is that of either end: TLS 1.3, this key, and a peer with the key that
// right knows. The handshake proves that the peer has it.
func config(own tls.Certificate, right func(pin [32]byte) bool) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true,
		ClientAuth: tls.RequireAnyClientCert,
		// No authority is asked: VerifyPeerCertificate decides, and it is called on
		// every handshake, since there is no resumption.
		InsecureSkipVerify: true,
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) != 1 {
				return errPin
			}
			c, err := x509.ParseCertificate(raw[0])
			if err != nil {
				return errPin
			}
			if pin := sha256.Sum256(c.RawSubjectPublicKeyInfo); !right(pin) {
				return errPin
			}
			return nil
		},
	}
}

func same(a, b [32]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }
