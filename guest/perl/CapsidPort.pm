package CapsidPort;

# The port: lines on fd 3. It reads on while it waits to write, so that two
# full sockets cannot lock. The host's end is the end of this process.
use strict;
use warnings;
use Errno qw(EAGAIN EINTR EWOULDBLOCK);
use Fcntl qw(F_SETFL O_NONBLOCK);
use POSIX ();
use CapsidJson;

use constant CHUNK => 1 << 18;

open(my $port, '+<&=', 3) or POSIX::_exit(76);
binmode $port;
fcntl($port, F_SETFL, O_NONBLOCK);
my ($input, $from) = ('', 0);
$SIG{PIPE} = 'IGNORE';

sub wait_for {
	my ($write) = @_;
	my $read = '';
	vec($read, fileno($port), 1) = 1;
	my $room = $write ? $read : undef;
	select($read, $room, undef, undef);
}

# False: there is nothing now.
sub fill {
	my $n = sysread($port, $input, CHUNK, length $input);
	return 1 if $n;
	POSIX::_exit(76)
	  if defined $n
	  || !($! == EAGAIN || $! == EWOULDBLOCK || $! == EINTR);
	return 0;
}

# The next message of the host, waited for.
sub next_line {
	my $end;
	while (($end = index($input, "\n", $from)) < 0) {
		$from = length $input;
		fill() or wait_for(0);
	}
	my $line = substr($input, 0, $end);
	substr($input, 0, $end + 1, '');
	$from = 0;
	my $message = utf8::decode($line) && eval { CapsidJson::parse($line) };
	POSIX::_exit(76) unless ref $message eq 'HASH';
	return $message;
}

# A line, of characters; the line feed is ours.
sub say_line {
	my ($line) = @_;
	utf8::encode($line);
	$line .= "\n";
	my $at = 0;
	while ($at < length $line) {
		my $n = syswrite($port, $line, CHUNK, $at);
		if ($n) {
			$at += $n;
		} elsif (!($! == EAGAIN || $! == EWOULDBLOCK || $! == EINTR)) {
			POSIX::_exit(76);
		} elsif (!fill()) {
			wait_for(1);
		}
	}
}

1;
