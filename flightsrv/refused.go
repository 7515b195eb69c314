package flightsrv

import "net"

// refused logs a connection that the server closes, and why.
func (s *service) refused(client net.Addr, why error) {
	s.cfg.Log.Info().Str("client", client.String()).Err(why).Msg("the connection is closed")
}
