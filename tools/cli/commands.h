// SPDX-License-Identifier: MIT
// The commands of espy. Each gets the words after its name and gives back the exit status of the program.
#ifndef ESPYI_COMMANDS_H
#define ESPYI_COMMANDS_H

#include "cli_text.h"

espyCliExit espyiCommand_Bake(int argc, char* const* argv);
espyCliExit espyiCommand_Info(int argc, char* const* argv);
espyCliExit espyiCommand_Visible(int argc, char* const* argv);
espyCliExit espyiCommand_Audit(int argc, char* const* argv);
espyCliExit espyiCommand_Check(int argc, char* const* argv);
espyCliExit espyiCommand_Diff(int argc, char* const* argv);
espyCliExit espyiCommand_Cook(int argc, char* const* argv);
espyCliExit espyiCommand_Import(int argc, char* const* argv);
espyCliExit espyiCommand_Report(int argc, char* const* argv);
/// Becomes the program espy-serve, which stands beside this one.
espyCliExit espyiCommand_Serve(int argc, char* const* argv);

#endif
